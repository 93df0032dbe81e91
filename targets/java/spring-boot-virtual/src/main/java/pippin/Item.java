package pippin;

import java.util.List;
import java.util.stream.IntStream;

/** A row of the page. */
public record Item(int id, String name, int price) {
  /** The twelve items of page n. */
  public static List<Item> ofPage(int n) {
    return IntStream.rangeClosed(1, 12)
        .mapToObj(id -> new Item(id, "Item " + id + " <of> page " + n + " & more", id * n))
        .toList();
  }
}
