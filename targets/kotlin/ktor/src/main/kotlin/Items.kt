// The items of the data file, read and written by Jackson.
package pippin

import com.fasterxml.jackson.annotation.JsonUnwrapped
import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import com.fasterxml.jackson.module.kotlin.readValue
import java.io.File

/** An item as it stands in the file. */
class Entry(
    val id: Int,
    val name: String,
    val category: String,
    val price: Long,
    val quantity: Long,
    val active: Boolean,
    val tags: List<String>,
    val rating: Rating,
)

class Rating(val score: Double, val count: Int)

class WithTotal(@get:JsonUnwrapped val entry: Entry, val total: Long)

class ItemList(val count: Int, val items: List<WithTotal>)

class Items(path: String) {
    private val entries: List<Entry> = jacksonObjectMapper().readValue(File(path))

    /** The first n, each with its price times quantity times m. */
    fun first(n: Int, m: Long): ItemList {
        val items = entries.take(n).map { WithTotal(it, it.price * it.quantity * m) }
        return ItemList(items.size, items)
    }
}
