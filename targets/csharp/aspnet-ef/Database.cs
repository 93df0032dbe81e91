using System;
using Npgsql;

namespace AspNetEf
{
    /// <summary>Where the database is.</summary>
    public static class Database
    {
        /// <summary>Npgsql's connection string for an address like postgres://user:password@host:port/database.</summary>
        public static string ConnectionString(string address, int poolSize)
        {
            var uri = new Uri(address);
            var login = uri.UserInfo.Split(new[] { ':' }, 2);

            return new NpgsqlConnectionStringBuilder
            {
                Host = uri.Host,
                Port = uri.Port > 0 ? uri.Port : 5432,
                Username = Uri.UnescapeDataString(login[0]),
                Password = login.Length > 1 ? Uri.UnescapeDataString(login[1]) : null,
                Database = Uri.UnescapeDataString(uri.AbsolutePath.TrimStart('/')),
                MaxPoolSize = poolSize,
            }.ConnectionString;
        }
    }
}
