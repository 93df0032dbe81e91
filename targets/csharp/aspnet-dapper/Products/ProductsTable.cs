using System.Collections.Generic;
using System.Threading.Tasks;
using Dapper;
using Npgsql;

namespace AspNetDapper.Products
{
    /// <summary>The table of products.</summary>
    public class ProductsTable
    {
        private readonly NpgsqlDataSource database;

        public ProductsTable(NpgsqlDataSource database) => this.database = database;

        public async Task<IEnumerable<Product>> Page(string category, long skipped)
        {
            var where = category == null ? "" : "WHERE category = @category";
            await using (var connection = await database.OpenConnectionAsync())
            {
                return await connection.QueryAsync<Product>(
                    $"SELECT id, name, category, price FROM products {where} ORDER BY id LIMIT 20 OFFSET @skipped", new { category, skipped });
            }
        }

        public Task<Product> Find(int id) =>
            One("SELECT id, name, category, price FROM products WHERE id = @id", new { id });

        public Task<Product> Add(ProductInput sent) =>
            One("INSERT INTO products (name, category, price) VALUES (@Name, @Category, @Price) RETURNING id, name, category, price", sent);

        public Task<Product> Change(int id, ProductInput sent) =>
            One(
                "UPDATE products SET name = @Name, category = @Category, price = @Price WHERE id = @id RETURNING id, name, category, price",
                new { sent.Name, sent.Category, sent.Price, id });

        public Task<Product> Remove(int id) =>
            One("DELETE FROM products WHERE id = @id RETURNING id, name, category, price", new { id });

        /// <summary>The row that a statement returns, or null.</summary>
        private async Task<Product> One(string statement, object values)
        {
            await using (var connection = await database.OpenConnectionAsync())
            {
                return await connection.QuerySingleOrDefaultAsync<Product>(statement, values);
            }
        }
    }
}
