namespace AspNetDapper.Users
{
    /// <summary>A row of the table of users.</summary>
    public class User
    {
        public int Id { get; set; }

        public string Name { get; set; }

        public string Email { get; set; }
    }
}
