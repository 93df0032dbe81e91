defmodule PippinPlug.Products do
  @moduledoc "The table `products`. Prepared statements are kept, as Ecto keeps them; rows are not."

  @list "SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET $1"
  @list_of "SELECT id, name, category, price FROM products WHERE category = $2 ORDER BY id LIMIT 20 OFFSET $1"
  @get "SELECT id, name, category, price FROM products WHERE id = $1"
  @insert "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price"
  @update "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price"
  @delete "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price"

  @doc "The products of a page, of one category or of all."
  def list(nil, page), do: query("list", @list, [(page - 1) * 20])
  def list(category, page), do: query("list_of", @list_of, [(page - 1) * 20, category])

  def get(id), do: one("get", @get, [id])
  def insert(product), do: one("insert", @insert, values(product))
  def update(id, product), do: one("update", @update, values(product) ++ [id])
  def delete(id), do: one("delete", @delete, [id])

  defp values(%{name: name, category: category, price: price}), do: [name, category, price]

  defp one(statement, sql, values) do
    case query(statement, sql, values) do
      {:ok, [product]} -> {:ok, product}
      {:ok, []} -> {:error, :not_found}
      {:error, :taken} -> {:error, :taken}
    end
  end

  defp query(statement, sql, values) do
    case Postgrex.query(PippinPlug.Database, sql, values,
           cache_statement: "products " <> statement
         ) do
      {:ok, %Postgrex.Result{rows: rows}} -> {:ok, Enum.map(rows, &product/1)}
      {:error, %Postgrex.Error{postgres: %{code: :unique_violation}}} -> {:error, :taken}
      {:error, error} -> raise error
    end
  end

  defp product([id, name, category, price]),
    do: %{id: id, name: name, category: category, price: price}
end
