package pippin;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.io.File;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/** The items of the data file. */
final class DataFile {
  /** An item as it stands in the file. */
  public record Entry(
      int id, String name, String category, long price, long quantity, boolean active, List<String> tags, Rating rating) {}

  public record Rating(double score, int count) {}

  public record WithTotal(@JsonUnwrapped Entry entry, long total) {}

  public record Answer(int count, List<WithTotal> items) {}

  private final Entry[] entries;

  DataFile(JsonMapper mapper, File path) {
    entries = mapper.readValue(path, Entry[].class);
  }

  /** The first n items, each with its price times quantity times m. */
  Answer first(int n, long m) {
    List<WithTotal> items =
        Arrays.stream(entries)
            .limit(n)
            .map(entry -> new WithTotal(entry, entry.price() * entry.quantity() * m))
            .toList();
    return new Answer(items.size(), items);
  }
}
