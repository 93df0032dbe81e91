using System.ComponentModel.DataAnnotations;
using System.Text.Json;
using Npgsql;

namespace AspNetMinimal
{
    /// <summary>A row of the table of products.</summary>
    public record Product(int Id, string Name, string Category, int Price);

    /// <summary>
    /// What clients send. A missing price is null, because 0 is a price. A required text may be white space here, which it may not by
    /// default.
    /// </summary>
    public class ProductInput
    {
        [Required(AllowEmptyStrings = true), StringLength(100, MinimumLength = 1)]
        public string Name { get; set; }

        [Required(AllowEmptyStrings = true), StringLength(100, MinimumLength = 1)]
        public string Category { get; set; }

        [Required, Range(0, 1_000_000)]
        public int? Price { get; set; }
    }

    /// <summary>Products: listed, read, added, changed and removed. An id that is no number matches no route.</summary>
    public static class Products
    {
        public static void MapProducts(this WebApplication app)
        {
            var group = app.MapGroup("/products");
            group.MapGet("/", List);
            group.MapGet("/{id:int}", (int id, NpgsqlDataSource source) =>
                One(source, "SELECT id, name, category, price FROM products WHERE id = $1", product => Results.Ok(product), id));
            group.MapPost("/", (HttpRequest request, NpgsqlDataSource source) => WithBody(request, sent => One(
                source,
                "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price",
                product => Results.Created($"/products/{product.Id}", product),
                sent.Name, sent.Category, sent.Price)));
            group.MapPut("/{id:int}", (int id, HttpRequest request, NpgsqlDataSource source) => WithBody(request, sent => One(
                source,
                "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price",
                product => Results.Ok(product),
                sent.Name, sent.Category, sent.Price, id)));
            group.MapDelete("/{id:int}", (int id, NpgsqlDataSource source) => One(
                source, "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price", _ => Results.NoContent(), id));
        }

        private static async Task<IResult> List(string category, string page, NpgsqlDataSource source)
        {
            if (!int.TryParse(page ?? "1", out var number) || number < 1)
            {
                return Results.UnprocessableEntity();
            }

            var where = category == null ? "" : "WHERE category = $2";
            await using var command = source.CreateCommand($"SELECT id, name, category, price FROM products {where} ORDER BY id LIMIT 20 OFFSET $1");
            command.Parameters.Add(new NpgsqlParameter { Value = (number - 1) * 20L });
            if (category != null)
            {
                command.Parameters.Add(new NpgsqlParameter { Value = category });
            }

            var products = new List<Product>();
            await using var reader = await command.ExecuteReaderAsync();
            while (await reader.ReadAsync())
            {
                products.Add(Row(reader));
            }

            return Results.Ok(products);
        }

        /// <summary>Hands on a body that is valid. As a parameter, one that is no JSON would be 400.</summary>
        private static async Task<IResult> WithBody(HttpRequest request, Func<ProductInput, Task<IResult>> next)
        {
            ProductInput sent = null;
            try
            {
                sent = await request.ReadFromJsonAsync<ProductInput>();
            }
            catch (JsonException)
            {
            }

            return sent != null && Validator.TryValidateObject(sent, new ValidationContext(sent), null, validateAllProperties: true)
                ? await next(sent)
                : Results.UnprocessableEntity();
        }

        /// <summary>Answers with the row that a statement returns, or with what the database said.</summary>
        private static async Task<IResult> One(NpgsqlDataSource source, string statement, Func<Product, IResult> answer, params object[] values)
        {
            await using var command = source.CreateCommand(statement);
            foreach (var value in values)
            {
                command.Parameters.Add(new NpgsqlParameter { Value = value });
            }

            try
            {
                await using var reader = await command.ExecuteReaderAsync();
                return await reader.ReadAsync() ? answer(Row(reader)) : Results.NotFound();
            }
            catch (PostgresException error) when (error.SqlState == PostgresErrorCodes.UniqueViolation)
            {
                return Results.Conflict();
            }
        }

        private static Product Row(NpgsqlDataReader reader) =>
            new(reader.GetInt32(0), reader.GetString(1), reader.GetString(2), reader.GetInt32(3));
    }
}
