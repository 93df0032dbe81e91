using System;
using System.Security.Cryptography;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;

namespace AspNetCore
{
    /// <summary>The length and the SHA-256 of a body, digested as it comes. Kestrel takes up to 30 MB.</summary>
    public static class Upload
    {
        public static async Task Answer(HttpContext context)
        {
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            var buffer = new byte[64 * 1024];
            long length = 0;
            int read;
            while ((read = await context.Request.Body.ReadAsync(buffer, 0, buffer.Length)) > 0)
            {
                hash.AppendData(buffer, 0, read);
                length += read;
            }

            var digits = BitConverter.ToString(hash.GetHashAndReset()).Replace("-", "").ToLowerInvariant();
            context.Response.ContentType = "text/plain; charset=utf-8";
            await context.Response.WriteAsync($"{length} {digits}");
        }
    }
}
