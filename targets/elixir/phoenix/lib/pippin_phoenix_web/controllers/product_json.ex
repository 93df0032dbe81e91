defmodule PippinPhoenixWeb.ProductJSON do
  def index(%{products: products}), do: for(product <- products, do: data(product))

  def show(%{product: product}), do: data(product)

  defp data(product) do
    %{id: product.id, name: product.name, category: product.category, price: product.price}
  end
end
