package pippin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A message: a row of the table, or the one that a request adds, which has the number 0. */
public record Message(int id, String text) {
  /** The rows and an added one, in the order of their texts: Java compares UTF-16 code units. */
  static List<Message> withAdded(List<Message> rows, String text) {
    List<Message> messages = new ArrayList<>(rows);
    messages.add(new Message(0, text));
    messages.sort(Comparator.comparing(Message::text));
    return messages;
  }
}
