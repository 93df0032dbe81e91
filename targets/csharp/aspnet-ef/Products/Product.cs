using System.ComponentModel.DataAnnotations.Schema;

namespace AspNetEf.Products
{
    /// <summary>A row of the table of products.</summary>
    [Table("products")]
    public class Product
    {
        [Column("id")]
        public int Id { get; set; }

        [Column("name")]
        public string Name { get; set; }

        [Column("category")]
        public string Category { get; set; }

        [Column("price")]
        public int Price { get; set; }
    }
}
