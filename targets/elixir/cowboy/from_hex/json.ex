defmodule PippinCowboy.Json do
  @moduledoc "JSON by Jason."

  def decode!(text), do: Jason.decode!(text)
  def encode(value), do: Jason.encode_to_iodata!(value)
end
