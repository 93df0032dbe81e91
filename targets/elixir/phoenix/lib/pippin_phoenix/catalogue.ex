defmodule PippinPhoenix.Catalogue do
  @moduledoc "The data of the page: twelve items for each page number."

  defmodule Item do
    @moduledoc "An item: its number on the page, its name as raw text, its price in EUR."
    @enforce_keys [:id, :name, :price]
    defstruct @enforce_keys
  end

  @doc "The items of page `n`."
  def items(n) do
    for id <- 1..12 do
      %Item{id: id, name: "Item #{id} <of> page #{n} & more", price: id * n}
    end
  end
end
