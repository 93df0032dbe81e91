using System;
using System.Text.Json.Serialization;
using AspNetEf.Users;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Mvc;
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

            services.AddControllers()
                // By default what is not valid is 400, and "7" is taken for a number.
                .ConfigureApiBehaviorOptions(options => options.InvalidModelStateResponseFactory =
                    context => new UnprocessableEntityObjectResult(new ValidationProblemDetails(context.ModelState)))
                .AddJsonOptions(options => options.JsonSerializerOptions.NumberHandling = JsonNumberHandling.Strict);
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
