// ASP.NET Core's minimal API. What ASP.NET Core itself has the means for is served so far.
using System.Security.Cryptography;
using System.Text.Json;
using Microsoft.Extensions.FileProviders;

static string Variable(string name) => Environment.GetEnvironmentVariable(name);

var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.WebHost.UseUrls($"http://{Variable("HOST")}:{Variable("PORT")}");
builder.Services.AddResponseCompression();
var app = builder.Build();

// For clients that accept a coding, of one route alone.
app.UseWhen(context => context.Request.Path.StartsWithSegments("/json"), branch => branch.UseResponseCompression());

// Each variable is there where its workload is measured.
if (Variable("STATIC_FOLDER") is string folder)
{
    app.UseStaticFiles(new StaticFileOptions { FileProvider = new PhysicalFileProvider(folder), RequestPath = "/static" });
}

app.MapGet("/", () => Results.Text("Hello World!"));
app.MapMethods("/", ["HEAD"], () => Results.Text(""));

// The body is digested as it comes. Kestrel takes up to 30 MB.
app.MapPost("/upload", async (Stream body) =>
{
    using var digest = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    var piece = new byte[64 * 1024];
    long length = 0;
    int read;
    while ((read = await body.ReadAsync(piece)) > 0)
    {
        digest.AppendData(piece, 0, read);
        length += read;
    }

    return $"{length} {Convert.ToHexString(digest.GetHashAndReset()).ToLowerInvariant()}";
});

if (Variable("ITEMS_FILE") is string path)
{
    var all = JsonSerializer.Deserialize<Item[]>(File.ReadAllText(path), JsonSerializerOptions.Web);
    app.MapGet("/json/{n:int}", (int n, long m) =>
    {
        var items = all.Take(n).Select(item => new ItemWithTotal(
            item.Id, item.Name, item.Category, item.Price, item.Quantity, item.Active, item.Tags, item.Rating,
            item.Price * item.Quantity * m)).ToList();
        return new { items.Count, Items = items };
    });
}

app.Run();

/// <summary>An item of the data file.</summary>
record Item(int Id, string Name, string Category, long Price, long Quantity, bool Active, string[] Tags, Rating Rating);

/// <summary>An item as it is answered.</summary>
record ItemWithTotal(
    int Id, string Name, string Category, long Price, long Quantity, bool Active, string[] Tags, Rating Rating, long Total);

record Rating(double Score, int Count);
