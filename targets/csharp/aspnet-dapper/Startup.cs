using System;
using System.Text.Json.Serialization;
using AspNetDapper.Products;
using AspNetDapper.Users;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Mvc;
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

            services.AddControllers()
                // By default what is not valid is 400, and "7" is taken for a number.
                .ConfigureApiBehaviorOptions(options => options.InvalidModelStateResponseFactory =
                    context => new UnprocessableEntityObjectResult(new ValidationProblemDetails(context.ModelState)))
                .AddJsonOptions(options => options.JsonSerializerOptions.NumberHandling = JsonNumberHandling.Strict);
            // Made by the container, which closes it at the end.
            services.AddSingleton(_ => NpgsqlDataSource.Create(database));
            services.AddSingleton<UsersTable>();
            services.AddSingleton<ProductsTable>();
        }

        public void Configure(IApplicationBuilder app)
        {
            app.UseMiddleware<DatabaseFailures>();
            app.UseRouting();
            app.UseEndpoints(endpoints => endpoints.MapControllers());
        }
    }
}
