using System.Collections.Generic;
using System.Linq;
using Microsoft.AspNetCore.Mvc.RazorPages;

namespace AspNetCore.Pages
{
    /// <summary>The data of the page of the workload `page`.</summary>
    public class CatalogueModel : PageModel
    {
        public long N { get; private set; }

        public IReadOnlyList<Item> Items { get; private set; }

        public void OnGet(int n)
        {
            N = n;
            Items = Enumerable.Range(1, 12).Select(id => new Item(id, n)).ToList();
        }

        public class Item
        {
            public Item(int id, long page)
            {
                Id = id;
                Name = $"Item {id} <of> page {page} & more";
                Price = id * page;
            }

            public int Id { get; }

            public string Name { get; }

            public long Price { get; }
        }
    }
}
