using System.Collections.Generic;
using System.ComponentModel.DataAnnotations;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Mvc;
using Npgsql;

namespace AspNetDapper.Products
{
    /// <summary>An id that is no number matches no route. What is not valid is answered before.</summary>
    [ApiController]
    [Route("products")]
    public class ProductsController : ControllerBase
    {
        private readonly ProductsTable products;

        public ProductsController(ProductsTable products) => this.products = products;

        [HttpGet]
        public Task<IEnumerable<Product>> List(string category, [Range(1, int.MaxValue)] int page = 1) =>
            products.Page(category, (page - 1) * 20L);

        [HttpGet("{id:int}")]
        public async Task<ActionResult<Product>> Read(int id) => Found(await products.Find(id));

        [HttpPost]
        public async Task<ActionResult<Product>> Create(ProductInput sent)
        {
            try
            {
                var product = await products.Add(sent);
                return Created($"/products/{product.Id}", product);
            }
            catch (PostgresException error) when (error.SqlState == PostgresErrorCodes.UniqueViolation)
            {
                return Conflict();
            }
        }

        [HttpPut("{id:int}")]
        public async Task<ActionResult<Product>> Change(int id, ProductInput sent)
        {
            try
            {
                return Found(await products.Change(id, sent));
            }
            catch (PostgresException error) when (error.SqlState == PostgresErrorCodes.UniqueViolation)
            {
                return Conflict();
            }
        }

        [HttpDelete("{id:int}")]
        public async Task<IActionResult> Remove(int id) =>
            await products.Remove(id) == null ? (IActionResult)NotFound() : NoContent();

        private ActionResult<Product> Found(Product product) => product == null ? NotFound() : (ActionResult<Product>)product;
    }
}
