package pippin;

/** A row of the table. */
public record User(int id, String name, String email) {}
