defmodule PippinCowboy.Json do
  @moduledoc "JSON by jsx, which Debian has."

  def decode!(text), do: :jsx.decode(text, [:return_maps])
  def encode(value), do: :jsx.encode(value)
end
