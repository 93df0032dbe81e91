package pippin;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/** A row of the table. */
public record Product(int id, String name, String category, int price) {
  /** What clients send. */
  public record Input(
      @NotEmpty @Size(max = 100) String name,
      @NotEmpty @Size(max = 100) String category,
      @NotNull @Min(0) @Max(1_000_000) Integer price) {}
}
