using System.Collections.Generic;
using System.Threading.Tasks;
using Dapper;
using Npgsql;

namespace AspNetDapper.Users
{
    /// <summary>The table of users. Npgsql keeps the pool of connections, by connection string.</summary>
    public class UsersTable
    {
        private readonly string database;

        public UsersTable(string database) => this.database = database;

        public async Task<IEnumerable<User>> All()
        {
            await using (var connection = new NpgsqlConnection(database))
            {
                return await connection.QueryAsync<User>("SELECT id, name, email FROM users ORDER BY id");
            }
        }
    }
}
