package pippin;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;

/** The items of the data file. */
final class DataFile {
  /** An item as it stands in the file. */
  public record Entry(
      int id, String name, String category, long price, long quantity, boolean active, List<String> tags, Rating rating) {}

  public record Rating(double score, int count) {}

  public record WithTotal(@JsonUnwrapped Entry entry, long total) {}

  public record Answer(int count, List<WithTotal> items) {}

  private final Entry[] entries;

  DataFile(String path) {
    try {
      entries = new ObjectMapper().readValue(new File(path), Entry[].class);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
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
