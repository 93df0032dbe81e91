defmodule PippinPlug.ProductRouter do
  @moduledoc "Products: listed, read, added, changed and removed."

  use Plug.Router

  alias PippinPlug.Products

  plug :match
  plug :dispatch

  get "/" do
    %{query_params: query} = fetch_query_params(conn)

    case Integer.parse(Map.get(query, "page", "1")) do
      {page, ""} when page in 1..1_000_000_000 ->
        answer(conn, 200, Products.list(query["category"], page))

      _ ->
        answer(conn, 200, {:error, :invalid})
    end
  end

  post "/" do
    {conn, sent} = read_product(conn)
    answer(conn, 201, with({:ok, product} <- sent, do: Products.insert(product)))
  end

  get "/:id" do
    answer(conn, 200, with({:ok, id} <- number(id), do: Products.get(id)))
  end

  put "/:id" do
    {conn, sent} = read_product(conn)

    answer(
      conn,
      200,
      with({:ok, id} <- number(id), {:ok, product} <- sent, do: Products.update(id, product))
    )
  end

  delete "/:id" do
    answer(conn, 204, with({:ok, id} <- number(id), do: Products.delete(id)))
  end

  match _ do
    answer(conn, 200, {:error, :not_found})
  end

  defp number(text) do
    case Integer.parse(text) do
      {id, ""} when id in 0..0x7FFFFFFF -> {:ok, id}
      _ -> {:error, :not_found}
    end
  end

  # Plug.Parsers would raise where the body is no JSON, and that is answered with 400 and logged.
  defp read_product(conn) do
    {_more_or_ok, text, conn} = read_body(conn)

    case Jason.decode(text) do
      {:ok, %{"name" => name, "category" => category, "price" => price}}
      when is_binary(name) and is_binary(category) and is_integer(price) and price in 0..1_000_000 ->
        if String.length(name) in 1..100 and String.length(category) in 1..100,
          do: {conn, {:ok, %{name: name, category: category, price: price}}},
          else: {conn, {:error, :invalid}}

      _ ->
        {conn, {:error, :invalid}}
    end
  end

  defp answer(conn, 204, {:ok, _product}), do: send_resp(conn, 204, "")

  defp answer(conn, 201, {:ok, product}) do
    conn |> put_resp_header("location", "/products/#{product.id}") |> json(201, product)
  end

  defp answer(conn, status, {:ok, value}), do: json(conn, status, value)

  defp answer(conn, _status, {:error, :invalid}),
    do: json(conn, 422, %{error: "a product has a name, a category and a price"})

  defp answer(conn, _status, {:error, :not_found}),
    do: json(conn, 404, %{error: "there is no such product"})

  defp answer(conn, _status, {:error, :taken}), do: json(conn, 409, %{error: "the name is taken"})

  defp json(conn, status, value) do
    conn
    |> put_resp_content_type("application/json")
    |> send_resp(status, Jason.encode_to_iodata!(value))
  end
end
