using System;
using AspNetDapper.Users;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace AspNetDapper
{
    public class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            var database = Database.ConnectionString(
                Environment.GetEnvironmentVariable("DATABASE_URL"),
                int.Parse(Environment.GetEnvironmentVariable("DATABASE_POOL")));

            services.AddControllers();
            // Made by the container, which closes it at the end.
            services.AddSingleton(_ => NpgsqlDataSource.Create(database));
            services.AddSingleton<UsersTable>();
        }

        public void Configure(IApplicationBuilder app)
        {
            app.UseMiddleware<DatabaseFailures>();
            app.UseRouting();
            app.UseEndpoints(endpoints => endpoints.MapControllers());
        }
    }
}
