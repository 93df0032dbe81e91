defmodule PippinPhoenix.Product do
  @moduledoc "A row of the table `products`."

  use Ecto.Schema

  import Ecto.{Changeset, Query}

  alias PippinPhoenix.Repo

  schema "products" do
    field :name, :string
    field :category, :string
    field :price, :integer
  end

  @doc "The products of a page, of one category or of all."
  def list(category, page) do
    query = if category, do: where(__MODULE__, category: ^category), else: __MODULE__
    query |> order_by(:id) |> limit(20) |> offset(^((page - 1) * 20)) |> Repo.all()
  end

  def get(id), do: Repo.get(__MODULE__, id)

  def insert(sent), do: %__MODULE__{} |> changeset(sent) |> Repo.insert()

  # Neither reads first: a row that is not there makes an error of the field `id`.
  def update(id, sent),
    do: %__MODULE__{id: id} |> changeset(sent) |> Repo.update(stale_error_field: :id)

  def delete(id), do: Repo.delete(%__MODULE__{id: id}, stale_error_field: :id)

  defp changeset(product, sent) do
    product
    |> cast(sent, [:name, :category, :price], empty_values: [""])
    |> validate_required([:name, :category, :price], trim: false)
    |> validate_length(:name, max: 100)
    |> validate_length(:category, max: 100)
    |> validate_number(:price, greater_than_or_equal_to: 0, less_than_or_equal_to: 1_000_000)
    |> validate_change(:price, fn :price, _ -> number(sent["price"]) end)
    |> unique_constraint(:name, name: :products_name_key)
  end

  # Ecto takes "7" for a number.
  defp number(price) when is_integer(price), do: []
  defp number(_text), do: [price: "is no number"]
end
