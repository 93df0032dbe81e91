using System;
using System.IO;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.DataProtection;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.FileProviders;

namespace AspNetCore
{
    public class Startup
    {
        private static readonly string[] GetAndHead = { HttpMethods.Get, HttpMethods.Head };

        public void ConfigureServices(IServiceCollection services)
        {
            services.AddRazorPages();
            services.AddResponseCompression();

            // Razor Pages bring keys for forms, written to the user's home unless told otherwise.
            services.AddDataProtection()
                .PersistKeysToFileSystem(new DirectoryInfo(Path.Combine(AppContext.BaseDirectory, "keys")));

            // Absent when the workload does not need it.
            var upstream = Environment.GetEnvironmentVariable("UPSTREAM_URL");
            services.AddHttpClient<Upstream>(client =>
                client.BaseAddress = upstream == null ? null : new Uri(upstream));
        }

        public void Configure(IApplicationBuilder app)
        {
            // For clients that accept a coding, of one route alone.
            app.UseWhen(
                context => context.Request.Path.StartsWithSegments("/json"), branch => branch.UseResponseCompression());
            var folder = Environment.GetEnvironmentVariable("STATIC_FOLDER");
            if (folder != null)
            {
                app.UseStaticFiles(new StaticFileOptions
                {
                    FileProvider = new PhysicalFileProvider(folder),
                    RequestPath = "/static",
                });
            }

            app.UseRouting();
            app.UseEndpoints(endpoints =>
            {
                endpoints.MapMethods("/", GetAndHead, Hello);
                endpoints.MapMethods("/hola/{name}", GetAndHead, Hola);
                endpoints.MapMethods("/api/proxy/", GetAndHead, Proxy);
                endpoints.MapMethods("/device", GetAndHead, Device.Answer);
                endpoints.MapGet("/events", Events.Answer);
                endpoints.MapPost("/upload", Upload.Answer);
                var items = Environment.GetEnvironmentVariable("ITEMS_FILE");
                if (items != null)
                {
                    endpoints.MapGet("/json/{n:int}", new Items(items).Answer);
                }

                endpoints.MapRazorPages();
            });
        }

        private static Task Hello(HttpContext context) => PlainText(context, "Hello World!");

        private static Task Hola(HttpContext context) => PlainText(context, $"Hola {context.GetRouteValue("name")}");

        private static async Task Proxy(HttpContext context)
        {
            var upstream = context.RequestServices.GetRequiredService<Upstream>();
            await PlainText(context, await upstream.Ask());
        }

        private static Task PlainText(HttpContext context, string text)
        {
            context.Response.ContentType = "text/plain; charset=utf-8";
            return context.Response.WriteAsync(text);
        }
    }
}
