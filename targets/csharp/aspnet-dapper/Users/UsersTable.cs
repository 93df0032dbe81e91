using System.Collections.Generic;
using System.Threading.Tasks;
using Dapper;
using Npgsql;

namespace AspNetDapper.Users
{
    /// <summary>The table of users.</summary>
    public class UsersTable
    {
        private readonly NpgsqlDataSource database;

        public UsersTable(NpgsqlDataSource database) => this.database = database;

        public async Task<IEnumerable<User>> All()
        {
            await using (var connection = await database.OpenConnectionAsync())
            {
                return await connection.QueryAsync<User>("SELECT id, name, email FROM users ORDER BY id");
            }
        }
    }
}
