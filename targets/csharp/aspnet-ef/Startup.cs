using System;
using AspNetEf.Users;
using Microsoft.AspNetCore.Builder;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;

namespace AspNetEf
{
    public class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            var database = Database.ConnectionString(
                Environment.GetEnvironmentVariable("DATABASE_URL"),
                int.Parse(Environment.GetEnvironmentVariable("DATABASE_POOL")));

            services.AddControllers();
            services.AddDbContextPool<UsersContext>(options => options.UseNpgsql(database));
        }

        public void Configure(IApplicationBuilder app)
        {
            app.UseMiddleware<DatabaseFailures>();
            app.UseRouting();
            app.UseEndpoints(endpoints => endpoints.MapControllers());
        }
    }
}
