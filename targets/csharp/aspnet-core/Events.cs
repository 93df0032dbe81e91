using System;
using System.Diagnostics;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;

namespace AspNetCore
{
    /// <summary>A stream of server-sent events.</summary>
    public static class Events
    {
        /// <summary>An event each 100 ms: its number, and the milliseconds since 1970.</summary>
        public static async Task Answer(HttpContext context)
        {
            context.Response.ContentType = "text/event-stream";
            context.Response.Headers["Cache-Control"] = "no-store";
            var elapsed = Stopwatch.StartNew();
            for (var n = 0; n < 100; n++)
            {
                var left = TimeSpan.FromMilliseconds(100 * n) - elapsed.Elapsed;
                if (left > TimeSpan.Zero)
                {
                    await Task.Delay(left, context.RequestAborted);
                }

                var now = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
                await context.Response.WriteAsync($"data: {n} {now}\n\n", context.RequestAborted);
                await context.Response.Body.FlushAsync(context.RequestAborted);
            }
        }
    }
}
