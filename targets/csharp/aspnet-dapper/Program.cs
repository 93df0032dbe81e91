using System;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Hosting;

namespace AspNetDapper
{
    public static class Program
    {
        public static void Main(string[] args)
        {
            var host = Environment.GetEnvironmentVariable("HOST");
            var port = Environment.GetEnvironmentVariable("PORT");

            Host.CreateDefaultBuilder(args)
                .ConfigureWebHostDefaults(web => web.UseStartup<Startup>().UseUrls($"http://{host}:{port}"))
                .Build()
                .Run();
        }
    }
}
