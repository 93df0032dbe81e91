using System.Net.Http;
using System.Threading.Tasks;

namespace AspNetCore
{
    /// <summary>The slow upstream, asked through a client of IHttpClientFactory.</summary>
    public class Upstream
    {
        private readonly HttpClient client;

        public Upstream(HttpClient client) => this.client = client;

        public async Task<string> Ask()
        {
            using (var answer = await client.GetAsync("/slow"))
            {
                answer.EnsureSuccessStatusCode();
                return await answer.Content.ReadAsStringAsync();
            }
        }
    }
}
