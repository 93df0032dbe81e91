using System.Collections.Generic;
using System.ComponentModel.DataAnnotations;
using System.Linq;
using System.Threading.Tasks;
using AspNetEf.Users;
using Microsoft.AspNetCore.Mvc;
using Microsoft.EntityFrameworkCore;
using Npgsql;

namespace AspNetEf.Products
{
    /// <summary>An id that is no number matches no route. What is not valid is answered before.</summary>
    [ApiController]
    [Route("products")]
    public class ProductsController : ControllerBase
    {
        private readonly UsersContext context;

        public ProductsController(UsersContext context) => this.context = context;

        [HttpGet]
        public async Task<IReadOnlyList<Product>> List(string category, [Range(1, 100_000_000)] int page = 1)
        {
            var products = context.Products.AsNoTracking();
            if (category != null)
            {
                products = products.Where(product => product.Category == category);
            }

            return await products.OrderBy(product => product.Id).Skip((page - 1) * 20).Take(20).ToListAsync();
        }

        [HttpGet("{id:int}")]
        public async Task<ActionResult<Product>> Read(int id)
        {
            var product = await context.Products.AsNoTracking().FirstOrDefaultAsync(row => row.Id == id);
            return product == null ? NotFound() : (ActionResult<Product>)product;
        }

        [HttpPost]
        public async Task<ActionResult<Product>> Create(ProductInput sent)
        {
            var product = new Product { Name = sent.Name, Category = sent.Category, Price = sent.Price.Value };
            context.Products.Add(product);
            try
            {
                await context.SaveChangesAsync();
            }
            catch (DbUpdateException error) when (error.InnerException is PostgresException { SqlState: PostgresErrorCodes.UniqueViolation })
            {
                return Conflict();
            }

            return Created($"/products/{product.Id}", product);
        }

        /// <summary>By one statement, which says whether there was such a row.</summary>
        [HttpPut("{id:int}")]
        public async Task<ActionResult<Product>> Change(int id, ProductInput sent)
        {
            int changed;
            try
            {
                changed = await context.Products.Where(row => row.Id == id).ExecuteUpdateAsync(row => row
                    .SetProperty(product => product.Name, sent.Name)
                    .SetProperty(product => product.Category, sent.Category)
                    .SetProperty(product => product.Price, sent.Price.Value));
            }
            catch (PostgresException error) when (error.SqlState == PostgresErrorCodes.UniqueViolation)
            {
                return Conflict();
            }

            return changed == 0
                ? NotFound()
                : (ActionResult<Product>)new Product { Id = id, Name = sent.Name, Category = sent.Category, Price = sent.Price.Value };
        }

        [HttpDelete("{id:int}")]
        public async Task<IActionResult> Remove(int id)
        {
            var removed = await context.Products.Where(row => row.Id == id).ExecuteDeleteAsync();
            return removed == 0 ? (IActionResult)NotFound() : NoContent();
        }
    }
}
