using System;
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
            await Task.Delay(RandomNumberGenerator.GetInt32(95, 106));
            context.Response.ContentType = "application/octet-stream";
            context.Response.ContentLength = Content.Length;
            await context.Response.Body.WriteAsync(Content, 0, Content.Length);
        }

        private static byte[] CreateContent()
        {
            var content = new byte[1024];
            Array.Fill(content, (byte)'x');
            return content;
        }
    }
}
