using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Serialization;
using AspNetMinimal;
using Npgsql;

static string Variable(string name) => Environment.GetEnvironmentVariable(name);

var builder = WebApplication.CreateBuilder(args);
builder.WebHost.UseUrls($"http://{Variable("HOST")}:{Variable("PORT")}");

// Each is absent where the workload does not need it.
var database = Variable("DATABASE_URL");
if (database != null)
{
    var settings = Database.ConnectionString(database, int.Parse(Variable("DATABASE_POOL")));
    // Made by the container, which closes it at the end.
    builder.Services.AddSingleton(_ => NpgsqlDataSource.Create(settings));
}

var upstream = Variable("UPSTREAM_URL");
if (upstream != null)
{
    builder.Services.AddHttpClient("upstream", client => client.BaseAddress = new Uri(upstream));
}

builder.Services.AddResponseCompression();

// By default "7" is taken for a number.
builder.Services.ConfigureHttpJsonOptions(options => options.SerializerOptions.NumberHandling = JsonNumberHandling.Strict);

var app = builder.Build();

// For clients that accept a coding, of one route alone.
app.UseWhen(context => context.Request.Path.StartsWithSegments("/json"), branch => branch.UseResponseCompression());

app.MapGet("/", () => "Hello World!");
app.MapGet("/hola/{name}", (string name) => $"Hola {name}");

app.MapGet("/events", (CancellationToken stop) => TypedResults.ServerSentEvents(Events(stop)));

// The body is digested as it comes. Kestrel takes up to 30 MB.
app.MapPost("/upload", async (Stream body) =>
{
    using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    var buffer = new byte[64 * 1024];
    long length = 0;
    int read;
    while ((read = await body.ReadAsync(buffer)) > 0)
    {
        hash.AppendData(buffer, 0, read);
        length += read;
    }

    return $"{length} {Convert.ToHexString(hash.GetHashAndReset()).ToLowerInvariant()}";
});

var content = new byte[1024];
Array.Fill(content, (byte)'x');
app.MapGet("/device", async () =>
{
    await Wait(TimeSpan.FromMilliseconds(RandomNumberGenerator.GetInt32(95, 106)));
    return Results.Bytes(content);
});

if (database != null)
{
    app.UseMiddleware<DatabaseFailures>();
    app.MapProducts();
    app.MapGet("/api/users/", async (NpgsqlDataSource source) =>
    {
        var users = new List<User>();
        await using var command = source.CreateCommand("SELECT id, name, email FROM users ORDER BY id");
        await using var reader = await command.ExecuteReaderAsync();
        while (await reader.ReadAsync())
        {
            users.Add(new User(reader.GetInt32(0), reader.GetString(1), reader.GetString(2)));
        }

        return users;
    });
}

var items = Variable("ITEMS_FILE");
if (items != null)
{
    var all = JsonSerializer.Deserialize<Item[]>(File.ReadAllText(items), JsonSerializerOptions.Web);
    app.MapGet("/json/{n:int}", (int n, long m) =>
    {
        var list = all.Take(n).Select(item => new ItemWithTotal(
            item.Id, item.Name, item.Category, item.Price, item.Quantity, item.Active, item.Tags, item.Rating,
            item.Price * item.Quantity * m)).ToList();
        return new { list.Count, Items = list };
    });
}

if (upstream != null)
{
    app.MapGet("/api/proxy/", async (IHttpClientFactory clients) =>
    {
        using var client = clients.CreateClient("upstream");
        return await client.GetStringAsync("/slow");
    });
}

app.Run();

// An event each 100 ms: its number, and the milliseconds since 1970.
static async IAsyncEnumerable<string> Events([EnumeratorCancellation] CancellationToken stop)
{
    using var ticks = new PeriodicTimer(TimeSpan.FromMilliseconds(100));
    for (var n = 0; n < 100; n++)
    {
        if (n > 0)
        {
            await ticks.WaitForNextTickAsync(stop);
        }

        yield return $"{n} {DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()}";
    }
}

// The runtime's timers count ticks of a coarse clock and may end some milliseconds early: what is left is waited for too.
static async Task Wait(TimeSpan time)
{
    var elapsed = Stopwatch.StartNew();
    for (var left = time; left > TimeSpan.Zero; left = time - elapsed.Elapsed)
    {
        await Task.Delay((int)Math.Ceiling(left.TotalMilliseconds));
    }
}

/// <summary>A row of the table of users.</summary>
record User(int Id, string Name, string Email);

/// <summary>An item of the data file.</summary>
record Item(int Id, string Name, string Category, long Price, long Quantity, bool Active, string[] Tags, Rating Rating);

/// <summary>An item as it is answered.</summary>
record ItemWithTotal(
    int Id, string Name, string Category, long Price, long Quantity, bool Active, string[] Tags, Rating Rating, long Total);

record Rating(double Score, int Count);
