defmodule PippinPhoenixWeb.EventController do
  use PippinPhoenixWeb, :controller

  def index(conn, _params) do
    conn
    |> put_resp_content_type("text/event-stream")
    |> put_resp_header("cache-control", "no-store")
    |> send_chunked(200)
    |> events(0)
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
end
