using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace AspNetMinimal
{
    /// <summary>
    /// Answers 500 where the database fails. The first failure is logged, and not one for each request.
    /// </summary>
    public class DatabaseFailures
    {
        private readonly RequestDelegate next;
        private readonly ILogger<DatabaseFailures> log;
        private int logged;

        public DatabaseFailures(RequestDelegate next, ILogger<DatabaseFailures> log)
        {
            this.next = next;
            this.log = log;
        }

        public async Task InvokeAsync(HttpContext context)
        {
            try
            {
                await next(context);
            }
            catch (Exception failure) when (IsOfDatabase(failure) && !context.Response.HasStarted)
            {
                if (Interlocked.Exchange(ref logged, 1) == 0)
                {
                    log.LogError("the database failed, later failures are not logged: {Message}", failure.GetBaseException().Message);
                }

                context.Response.StatusCode = StatusCodes.Status500InternalServerError;
            }
        }

        private static bool IsOfDatabase(Exception failure) => failure is NpgsqlException;
    }
}
