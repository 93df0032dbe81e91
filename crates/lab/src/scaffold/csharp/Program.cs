// ASP.NET Core's minimal API. Only `hello` is served so far.
var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.WebHost.UseUrls($"http://{Environment.GetEnvironmentVariable("HOST")}:{Environment.GetEnvironmentVariable("PORT")}");
var app = builder.Build();
app.MapGet("/", () => Results.Text("Hello World!"));
app.MapMethods("/", ["HEAD"], () => Results.Text(""));
app.Run();
