defmodule PippinPlug.Items do
  @moduledoc "The items of the data file."

  @doc "Reads the data file, if there is one. Terms kept in this way are shared by all processes and not copied."
  def read do
    if path = System.get_env("ITEMS_FILE") do
      :persistent_term.put(__MODULE__, path |> File.read!() |> Jason.decode!())
    end

    :ok
  end

  @doc "The first n, each with its price times quantity times m."
  def first(n, m) do
    items = __MODULE__ |> :persistent_term.get([]) |> Enum.take(n)
    items = for item <- items, do: Map.put(item, "total", item["price"] * item["quantity"] * m)
    %{count: length(items), items: items}
  end
end
