using System;
using Microsoft.AspNetCore.WebUtilities;
using Npgsql;

namespace AspNetMinimal
{
    /// <summary>Where the database is.</summary>
    public static class Database
    {
        /// <summary>
        /// Npgsql's connection string for an address like
        /// postgres://user:password@host:port/database?sslmode=require.
        /// </summary>
        public static string ConnectionString(string address, int poolSize)
        {
            var uri = new Uri(address);
            var login = uri.UserInfo.Split(new[] { ':' }, 2);

            var builder = new NpgsqlConnectionStringBuilder
            {
                Host = uri.Host,
                Port = uri.Port > 0 ? uri.Port : 5432,
                Username = Uri.UnescapeDataString(login[0]),
                Password = login.Length > 1 ? Uri.UnescapeDataString(login[1]) : null,
                Database = Uri.UnescapeDataString(uri.AbsolutePath.TrimStart('/')),
                MaxPoolSize = poolSize,
            };
            foreach (var (name, values) in QueryHelpers.ParseQuery(uri.Query))
            {
                Set(builder, name, values.ToString());
            }

            return builder.ConnectionString;
        }

        /// <summary>A parameter as libpq names it.</summary>
        private static void Set(NpgsqlConnectionStringBuilder builder, string name, string value)
        {
            switch (name)
            {
                case "sslmode": builder.SslMode = Enum.Parse<SslMode>(value.Replace("-", ""), ignoreCase: true); break;
                case "sslrootcert": builder.RootCertificate = value; break;
                case "sslcert": builder.SslCertificate = value; break;
                case "sslkey": builder.SslKey = value; break;
                case "connect_timeout": builder.Timeout = int.Parse(value); break;
                case "application_name": builder.ApplicationName = value; break;
                case "options": builder.Options = value; break;
                default: throw new ArgumentException($"DATABASE_URL: the parameter `{name}` is not known here");
            }
        }
    }
}
