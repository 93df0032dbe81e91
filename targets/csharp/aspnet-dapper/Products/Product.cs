namespace AspNetDapper.Products
{
    /// <summary>A row of the table of products.</summary>
    public class Product
    {
        public int Id { get; set; }

        public string Name { get; set; }

        public string Category { get; set; }

        public int Price { get; set; }
    }
}
