defmodule PippinPhoenixWeb.ProxyController do
  use PippinPhoenixWeb, :controller

  alias PippinPhoenix.Upstream

  def show(conn, _params) do
    case Upstream.slow() do
      {:ok, body} -> text(conn, body)
      {:error, reason} -> conn |> put_status(:bad_gateway) |> text(reason)
    end
  end
end
