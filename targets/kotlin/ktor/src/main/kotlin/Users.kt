// The tables through HikariCP and the JDBC driver of PostgreSQL.
package pippin

import com.zaxxer.hikari.HikariConfig
import com.zaxxer.hikari.HikariDataSource
import java.net.URI
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext

/** A row of the table. */
class User(val id: Int, val name: String, val email: String)

/** A message: a row of the table, or the one that a request adds, which has the number 0. */
class Message(val id: Int, val text: String)

class Users(url: String, size: Int) {
    private val pool = HikariDataSource(
        HikariConfig().apply {
            val address = URI(url)
            val login = address.userInfo.split(":", limit = 2)
            jdbcUrl = "jdbc:postgresql://${address.host}:${address.port}${address.path}"
            username = login[0]
            password = login.getOrNull(1)
            maximumPoolSize = size
        },
    )

    /** JDBC waits, so that a thread of Dispatchers.IO does. */
    suspend fun all(): List<User> = withContext(Dispatchers.IO) {
        pool.connection.use { connection ->
            connection.prepareStatement("SELECT id, name, email FROM users ORDER BY id").use { statement ->
                val rows = statement.executeQuery()
                buildList {
                    while (rows.next()) add(User(rows.getInt("id"), rows.getString("name"), rows.getString("email")))
                }
            }
        }
    }

    /** The products that a statement returns. */
    suspend fun products(sql: String, values: List<Any?>): List<Product> = withContext(Dispatchers.IO) {
        pool.connection.use { connection ->
            connection.prepareStatement(sql).use { statement ->
                values.forEachIndexed { index, value -> statement.setObject(index + 1, value) }
                val rows = statement.executeQuery()
                buildList {
                    while (rows.next()) add(Product(rows.getInt(1), rows.getString(2), rows.getString(3), rows.getInt(4)))
                }
            }
        }
    }

    /** The messages and an added one, in the order of their texts: Kotlin compares UTF-16 code units. */
    suspend fun messagesWith(added: String): List<Message> = withContext(Dispatchers.IO) {
        pool.connection.use { connection ->
            connection.prepareStatement("SELECT id, text FROM messages").use { statement ->
                val rows = statement.executeQuery()
                val messages = mutableListOf(Message(0, added))
                while (rows.next()) messages.add(Message(rows.getInt("id"), rows.getString("text")))
                messages.apply { sortBy { it.text } }
            }
        }
    }
}
