// Products: listed, read, added, changed and removed.
package pippin

import io.ktor.http.HttpHeaders
import io.ktor.http.HttpStatusCode
import io.ktor.server.application.ApplicationCall
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.request.ContentTransformationException
import io.ktor.server.request.receive
import io.ktor.server.response.header
import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.RoutingContext
import io.ktor.server.routing.delete
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import io.ktor.server.routing.put
import io.ktor.server.routing.route
import java.sql.SQLException

/** A row of the table. */
class Product(val id: Int, val name: String, val category: String, val price: Int)

/** What clients send. */
class ProductInput(val name: String, val category: String, val price: Int?) {
    private fun isText(text: String) = text.length in 1..100

    val isValid get() = isText(name) && isText(category) && price != null && price in 0..1_000_000
}

fun Route.products(users: Users) {
    route("/products") {
        get { list(users) }
        post {
            val sent = call.body() ?: return@post
            val sql = "INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price"
            call.one(users, HttpStatusCode.Created, sql, sent.name, sent.category, sent.price)
        }
        get("/{id}") {
            val id = call.id() ?: return@get
            call.one(users, HttpStatusCode.OK, "SELECT id, name, category, price FROM products WHERE id = ?", id)
        }
        put("/{id}") {
            val id = call.id() ?: return@put
            val sent = call.body() ?: return@put
            val sql = "UPDATE products SET name = ?, category = ?, price = ? WHERE id = ? RETURNING id, name, category, price"
            call.one(users, HttpStatusCode.OK, sql, sent.name, sent.category, sent.price, id)
        }
        delete("/{id}") {
            val id = call.id() ?: return@delete
            val sql = "DELETE FROM products WHERE id = ? RETURNING id, name, category, price"
            call.one(users, HttpStatusCode.NoContent, sql, id)
        }
    }
}

private suspend fun RoutingContext.list(users: Users) {
    val query = call.request.queryParameters
    val page = if ("page" in query) query["page"]?.toIntOrNull() else 1
    if (page == null || page < 1) return call.respond(HttpStatusCode.UnprocessableEntity)
    val category = query["category"]
    val where = if (category == null) "" else "WHERE category = ?"
    val sql = "SELECT id, name, category, price FROM products $where ORDER BY id LIMIT 20 OFFSET ?"
    call.respond(users.products(sql, listOfNotNull(category, (page - 1) * 20L)))
}

private suspend fun ApplicationCall.id(): Int? =
    parameters["id"]?.toIntOrNull() ?: respond(HttpStatusCode.NotFound).let { null }

/** Ktor's own answer to a body that is none is 400. */
private suspend fun ApplicationCall.body(): ProductInput? {
    val sent = try {
        receive<ProductInput>()
    } catch (error: BadRequestException) {
        null
    } catch (error: ContentTransformationException) {
        null
    }
    if (sent?.isValid == true) return sent
    respond(HttpStatusCode.UnprocessableEntity)
    return null
}

private suspend fun ApplicationCall.one(users: Users, status: HttpStatusCode, sql: String, vararg values: Any?) {
    val product = try {
        users.products(sql, values.asList()).firstOrNull()
    } catch (error: SQLException) {
        if (error.sqlState != "23505") throw error
        return respond(HttpStatusCode.Conflict)
    }
    if (product == null) return respond(HttpStatusCode.NotFound)
    if (status == HttpStatusCode.NoContent) return respond(status)
    if (status == HttpStatusCode.Created) response.header(HttpHeaders.Location, "/products/${product.id}")
    respond(status, product)
}
