using System.ComponentModel.DataAnnotations;

namespace AspNetDapper.Products
{
    /// <summary>What clients send. A required text may be white space here, which it may not by default.</summary>
    public class ProductInput
    {
        [Required(AllowEmptyStrings = true)]
        [StringLength(100, MinimumLength = 1)]
        public string Name { get; set; }

        [Required(AllowEmptyStrings = true)]
        [StringLength(100, MinimumLength = 1)]
        public string Category { get; set; }

        /// <summary>Null where it is missing: 0 is a price.</summary>
        [Required]
        [Range(0, 1_000_000)]
        public int? Price { get; set; }
    }
}
