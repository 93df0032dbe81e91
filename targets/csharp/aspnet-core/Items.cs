using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace AspNetCore
{
    /// <summary>The items of the data file.</summary>
    public sealed class Items
    {
        private static readonly JsonSerializerOptions Options =
            new JsonSerializerOptions { PropertyNamingPolicy = JsonNamingPolicy.CamelCase };

        private readonly List<Entry> entries;

        public Items(string path) => entries = JsonSerializer.Deserialize<List<Entry>>(File.ReadAllText(path), Options);

        /// <summary>The first n, each with its price times quantity times m.</summary>
        public Task Answer(HttpContext context)
        {
            var n = int.Parse((string)context.GetRouteValue("n"));
            var m = long.Parse(context.Request.Query["m"]);
            var items = entries.Take(n).Select(entry => new
            {
                entry.Id, entry.Name, entry.Category, entry.Price, entry.Quantity, entry.Active, entry.Tags, entry.Rating,
                Total = entry.Price * entry.Quantity * m,
            }).ToList();
            context.Response.ContentType = "application/json; charset=utf-8";
            return JsonSerializer.SerializeAsync(context.Response.Body, new { items.Count, Items = items }, Options);
        }

        private sealed class Entry
        {
            public int Id { get; set; }
            public string Name { get; set; }
            public string Category { get; set; }
            public long Price { get; set; }
            public long Quantity { get; set; }
            public bool Active { get; set; }
            public List<string> Tags { get; set; }
            public Score Rating { get; set; }
        }

        private sealed class Score
        {
            [System.Text.Json.Serialization.JsonPropertyName("score")]
            public double Value { get; set; }
            public int Count { get; set; }
        }
    }
}
