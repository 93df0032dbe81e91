defmodule PippinPlug.Router do
  use Plug.Router

  alias PippinPlug.{Items, Upstream, Users}

  @device_body String.duplicate("x", 1024)

  plug Plug.Head
  plug :match
  plug :dispatch

  get "/" do
    text(conn, 200, "Hello World!")
  end

  get "/hola/:name" do
    text(conn, 200, "Hola #{name}")
  end

  get "/api/users" do
    conn
    |> put_resp_content_type("application/json")
    |> send_resp(200, Jason.encode_to_iodata!(Users.list()))
  end

  forward "/products", to: PippinPlug.ProductRouter

  get "/json/:n" do
    %{"m" => m} = fetch_query_params(conn).query_params
    list = Items.first(String.to_integer(n), String.to_integer(m))

    conn
    |> put_resp_content_type("application/json")
    |> send_resp(200, Jason.encode_to_iodata!(list))
  end

  get "/api/proxy" do
    case Upstream.slow() do
      {:ok, body} -> text(conn, 200, body)
      {:error, reason} -> text(conn, 502, reason)
    end
  end

  # Only the process of this connection sleeps.
  get "/device" do
    Process.sleep(wait_ms())
    text(conn, 200, @device_body)
  end

  get "/events" do
    conn
    |> put_resp_content_type("text/event-stream")
    |> put_resp_header("cache-control", "no-store")
    |> send_chunked(200)
    |> events(0)
  end

  post "/upload" do
    {conn, text} = digest(conn, :crypto.hash_init(:sha256), 0)
    text(conn, 200, text)
  end

  match _ do
    text(conn, 404, "Not Found")
  end

  defp text(conn, status, body) do
    conn |> put_resp_content_type("text/plain") |> send_resp(status, body)
  end

  # An event each 100 ms: its number, and the milliseconds since 1970.
  defp events(conn, 100), do: conn

  defp events(conn, n) do
    if n > 0, do: Process.sleep(100)

    case chunk(conn, "data: #{n} #{System.os_time(:millisecond)}\n\n") do
      {:ok, conn} -> events(conn, n + 1)
      {:error, _gone} -> conn
    end
  end

  # Digests the body as it comes.
  defp digest(conn, hash, length) do
    case read_body(conn) do
      {:more, piece, conn} ->
        digest(conn, :crypto.hash_update(hash, piece), length + byte_size(piece))

      {:ok, piece, conn} ->
        digest = hash |> :crypto.hash_update(piece) |> :crypto.hash_final()
        {conn, "#{length + byte_size(piece)} #{Base.encode16(digest, case: :lower)}"}
    end
  end

  # 95 to 104: a sleep of n ms ends somewhere between n and n + 1.
  defp wait_ms, do: 94 + :rand.uniform(10)
end
