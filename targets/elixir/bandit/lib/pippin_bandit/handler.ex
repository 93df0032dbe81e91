defmodule PippinBandit.Handler do
  @moduledoc "What Bandit calls for each request: a plug without a router, which matches the path itself."

  @behaviour Plug

  import Plug.Conn

  alias PippinBandit.{BroadcastSocket, EchoSocket, Upstream, Users}

  @device_body String.duplicate("x", 1024)

  @impl true
  def init(options), do: options

  # Bandit sends no body to HEAD.
  @impl true
  def call(%Plug.Conn{method: method} = conn, _options) when method in ["GET", "HEAD"] do
    answer(conn, conn.path_info)
  end

  def call(conn, _options), do: text(conn, 405, "Method Not Allowed")

  defp answer(conn, []), do: text(conn, 200, "Hello World!")
  defp answer(conn, ["hola", name]), do: text(conn, 200, "Hola #{URI.decode(name)}")

  defp answer(conn, ["api", "users"]) do
    conn
    |> put_resp_content_type("application/json")
    |> send_resp(200, Jason.encode_to_iodata!(Users.list()))
  end

  defp answer(conn, ["api", "proxy"]) do
    case Upstream.slow() do
      {:ok, body} -> text(conn, 200, body)
      {:error, reason} -> text(conn, 502, reason)
    end
  end

  # Only the process of this connection sleeps.
  defp answer(conn, ["device"]) do
    Process.sleep(wait_ms())
    text(conn, 200, @device_body)
  end

  defp answer(conn, ["events"]) do
    conn
    |> put_resp_content_type("text/event-stream")
    |> put_resp_header("cache-control", "no-store")
    |> send_chunked(200)
    |> events(0)
  end

  defp answer(conn, ["ws"]), do: upgrade(conn, EchoSocket, [])

  # Whoever only listens sends nothing, and Bandit would let it go after a minute.
  defp answer(conn, ["broadcast"]), do: upgrade(conn, BroadcastSocket, timeout: :infinity)

  defp answer(conn, _path), do: text(conn, 404, "Not Found")

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

  defp upgrade(conn, socket, options) do
    WebSockAdapter.upgrade(conn, socket, nil, options)
  rescue
    error in WebSockAdapter.UpgradeError -> text(conn, 400, error.message)
  end

  # 95 to 104: a sleep of n ms ends somewhere between n and n + 1.
  defp wait_ms, do: 94 + :rand.uniform(10)
end
