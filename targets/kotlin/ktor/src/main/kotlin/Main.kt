// Pippin's workloads on Ktor with Netty, its HTML templates, HikariCP and its own HTTP client.
package pippin

import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.MapperFeature
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.cfg.CoercionAction
import com.fasterxml.jackson.databind.cfg.CoercionInputShape
import com.fasterxml.jackson.databind.type.LogicalType
import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.engine.cio.endpoint
import io.ktor.client.request.get
import io.ktor.client.statement.bodyAsText
import io.ktor.http.ContentType
import io.ktor.http.HttpStatusCode
import io.ktor.serialization.jackson.jackson
import io.ktor.server.application.Application
import io.ktor.server.application.install
import io.ktor.server.engine.embeddedServer
import io.ktor.server.html.respondHtmlTemplate
import io.ktor.server.http.content.staticFiles
import io.ktor.server.netty.Netty
import io.ktor.server.plugins.autohead.AutoHeadResponse
import io.ktor.server.plugins.compression.Compression
import io.ktor.server.plugins.conditionalheaders.ConditionalHeaders
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.request.receiveChannel
import io.ktor.server.response.respond
import io.ktor.server.response.respondBytesWriter
import io.ktor.server.response.respondText
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import io.ktor.server.routing.route
import io.ktor.server.routing.routing
import io.ktor.utils.io.readAvailable
import io.ktor.utils.io.writeStringUtf8
import java.io.File
import java.security.MessageDigest
import java.util.HexFormat
import kotlin.random.Random
import kotlinx.coroutines.delay

private val env: Map<String, String> = System.getenv()
private val deviceBody = "x".repeat(1024)

fun main() {
    embeddedServer(Netty, port = env.getValue("PORT").toInt(), host = env.getValue("HOST"), module = Application::module)
        .start(wait = true)
}

fun Application.module() {
    install(AutoHeadResponse)
    install(ContentNegotiation) { jackson { strict() } }
    routing {
        get("/") { call.respondText("Hello World!") }
        get("/hola/{name}") { call.respondText("Hola ${call.parameters["name"]}") }
        get("/page/{n}") {
            when (val n = call.parameters["n"]?.toIntOrNull()) {
                null -> call.respond(HttpStatusCode.NotFound)
                else -> call.respondHtmlTemplate(Layout("Page $n")) { content { page(n) } }
            }
        }
        // Waits 95 to 105 ms; a coroutine that waits holds no thread.
        get("/device") {
            delay(Random.nextLong(95, 106))
            call.respondText(deviceBody)
        }
        events()
        upload()
        env["DATABASE_URL"]?.let {
            val users = Users(it, env["DATABASE_POOL"]?.toInt() ?: 10)
            users(users)
            products(users)
        }
        env["ITEMS_FILE"]?.let { items(Items(it)) }
        env["STATIC_FOLDER"]?.let { files(File(it)) }
        env["UPSTREAM_URL"]?.let { proxy("$it/slow") }
    }
}

// By default Jackson takes "7" and 7.5 for a whole number, and 7 for a text.
private fun ObjectMapper.strict() {
    disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
    disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
    coercionConfigFor(LogicalType.Textual)
        .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
}

// An event each 100 ms: its number, and the milliseconds since 1970.
private fun Route.events() {
    get("/events") {
        call.respondBytesWriter(ContentType.Text.EventStream) {
            for (n in 0..<100) {
                if (n > 0) delay(100)
                writeStringUtf8("data: $n ${System.currentTimeMillis()}\n\n")
                flush()
            }
        }
    }
}

// Digests the body as it comes.
private fun Route.upload() {
    post("/upload") {
        val digest = MessageDigest.getInstance("SHA-256")
        val body = call.receiveChannel()
        val buffer = ByteArray(64 * 1024)
        var length = 0L
        var read = body.readAvailable(buffer)
        while (read >= 0) {
            digest.update(buffer, 0, read)
            length += read
            read = body.readAvailable(buffer)
        }
        call.respondText("$length ${HexFormat.of().formatHex(digest.digest())}")
    }
}

private fun Route.users(users: Users) {
    get("/api/users/") { call.respond(users.all()) }
    get("/messages") {
        val sorted = users.messagesWith(call.request.queryParameters["add"].orEmpty())
        call.respondHtmlTemplate(Layout("Messages")) { content { messages(sorted) } }
    }
}

private fun Route.items(items: Items) {
    route("/json/{n}") {
        // For clients that accept a coding, of this route alone.
        install(Compression)
        get {
            val n = call.parameters["n"]?.toIntOrNull()
            val m = call.request.queryParameters["m"]?.toLongOrNull()
            if (n == null || m == null) call.respond(HttpStatusCode.NotFound) else call.respond(items.first(n, m))
        }
    }
}

private fun Route.files(folder: File) {
    route("/static") {
        install(ConditionalHeaders)
        staticFiles("", folder)
    }
}

private fun Route.proxy(url: String) {
    val client = HttpClient(CIO) {
        engine {
            // By default it would open 100 connections to one host and let the other calls wait.
            maxConnectionsCount = 65_535
            endpoint { maxConnectionsPerRoute = 65_535 }
        }
    }
    get("/api/proxy/") {
        val answer = client.get(url)
        call.respondText(answer.bodyAsText(), ContentType.Text.Plain, answer.status)
    }
}
