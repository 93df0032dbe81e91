package pippin;

import io.micronaut.serde.annotation.Serdeable;

/** A row of the table. */
@Serdeable
public record User(int id, String name, String email) {}
