using System;
using System.Diagnostics;
using System.Security.Cryptography;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;

namespace AspNetCore
{
    /// <summary>Answers after a wait of 100 ms +-5 %, which holds no thread.</summary>
    public static class Device
    {
        private static readonly byte[] Content = CreateContent();

        public static async Task Answer(HttpContext context)
        {
            await Wait(TimeSpan.FromMilliseconds(RandomNumberGenerator.GetInt32(95, 106)));
            context.Response.ContentType = "application/octet-stream";
            context.Response.ContentLength = Content.Length;
            await context.Response.Body.WriteAsync(Content, 0, Content.Length);
        }

        // The runtime's timers count ticks of a coarse clock and may end some milliseconds early: what is left is waited for too.
        private static async Task Wait(TimeSpan time)
        {
            var elapsed = Stopwatch.StartNew();
            for (var left = time; left > TimeSpan.Zero; left = time - elapsed.Elapsed)
            {
                await Task.Delay((int)Math.Ceiling(left.TotalMilliseconds));
            }
        }

        private static byte[] CreateContent()
        {
            var content = new byte[1024];
            Array.Fill(content, (byte)'x');
            return content;
        }
    }
}
