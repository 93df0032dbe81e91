// The rendered page, with Ktor's HTML templates.
package pippin

import io.ktor.server.html.Placeholder
import io.ktor.server.html.Template
import io.ktor.server.html.insert
import kotlinx.html.FlowContent
import kotlinx.html.HTML
import kotlinx.html.MAIN
import kotlinx.html.a
import kotlinx.html.body
import kotlinx.html.footer
import kotlinx.html.h1
import kotlinx.html.head
import kotlinx.html.header
import kotlinx.html.id
import kotlinx.html.lang
import kotlinx.html.li
import kotlinx.html.link
import kotlinx.html.main
import kotlinx.html.meta
import kotlinx.html.nav
import kotlinx.html.p
import kotlinx.html.span
import kotlinx.html.table
import kotlinx.html.td
import kotlinx.html.th
import kotlinx.html.title
import kotlinx.html.tr
import kotlinx.html.ul

/** A row of the page. */
class Item(val id: Int, val name: String, val price: Int)

private fun itemsOf(n: Int) = (1..12).map { Item(it, "Item $it <of> page $n & more", it * n) }

/** The document around every page. */
class Layout(private val heading: String) : Template<HTML> {
    val content = Placeholder<MAIN>()

    override fun HTML.apply() {
        lang = "en"
        head {
            meta(charset = "utf-8")
            meta(name = "viewport", content = "width=device-width, initial-scale=1")
            title("$heading - Catalogue")
            link(rel = "stylesheet", href = "/assets/app.css")
        }
        body {
            header {
                nav {
                    a("/") { +"Home" }
                    a("/about") { +"About" }
                    a("/help") { +"Help" }
                }
            }
            main { insert(content) }
            footer {
                p {
                    +"Rendered by the framework's own template engine, with a layout around it, "
                    +"a loop over twelve items, and escaping of what comes from data."
                }
            }
        }
    }
}

fun FlowContent.page(n: Int) {
    h1 { +"Page $n" }
    p { +"These are the twelve items of page $n. Each has a name, which is escaped, and a price." }
    ul {
        for (item in itemsOf(n)) {
            li("item") {
                id = "row-$n-${item.id}"
                a("/page/$n/items/${item.id}") { +item.name }
                +" "
                span("price") { +"${item.price} EUR" }
            }
        }
    }
}

fun FlowContent.messages(messages: List<Message>) {
    h1 { +"Messages" }
    table {
        tr {
            th { +"Number" }
            th { +"Message" }
        }
        for (message in messages) {
            tr {
                td { +message.id.toString() }
                td { +message.text }
            }
        }
    }
}
