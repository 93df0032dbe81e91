defmodule PippinPhoenixWeb.ProductController do
  use PippinPhoenixWeb, :controller

  alias PippinPhoenix.Product

  action_fallback PippinPhoenixWeb.FallbackController

  def index(conn, params) do
    case Integer.parse(params["page"] || "1") do
      {page, ""} when page in 1..1_000_000_000 ->
        render(conn, :index, products: Product.list(params["category"], page))

      _ ->
        {:error, :unprocessable_entity}
    end
  end

  def show(conn, %{"id" => id}) do
    with {:ok, id} <- number(id), %Product{} = product <- Product.get(id) do
      render(conn, :show, product: product)
    else
      _ -> {:error, :not_found}
    end
  end

  def create(conn, _params) do
    with {:ok, product} <- Product.insert(conn.body_params) do
      conn
      |> put_status(:created)
      |> put_resp_header("location", ~p"/products/#{product.id}")
      |> render(:show, product: product)
    end
  end

  def update(conn, %{"id" => id}) do
    with {:ok, id} <- number(id), {:ok, product} <- Product.update(id, conn.body_params) do
      render(conn, :show, product: product)
    end
  end

  def delete(conn, %{"id" => id}) do
    with {:ok, id} <- number(id), {:ok, _product} <- Product.delete(id) do
      send_resp(conn, :no_content, "")
    end
  end

  defp number(text) do
    case Integer.parse(text) do
      {id, ""} when id in 0..0x7FFFFFFF -> {:ok, id}
      _ -> {:error, :not_found}
    end
  end
end
