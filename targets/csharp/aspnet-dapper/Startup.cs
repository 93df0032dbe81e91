using System;
using AspNetDapper.Users;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;

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
            services.AddSingleton(new UsersTable(database));
        }

        public void Configure(IApplicationBuilder app)
        {
            app.UseRouting();
            app.UseEndpoints(endpoints => endpoints.MapControllers());
        }
    }
}
