defmodule PippinCowboy.ProxyHandler do
  @moduledoc "GET /api/proxy/: the answer of the slow upstream, asked for every request."

  @behaviour :cowboy_handler

  alias PippinCowboy.Upstream

  @headers %{"content-type" => "text/plain"}

  @impl true
  def init(req, state) do
    reply =
      case Upstream.slow() do
        {:ok, body} -> :cowboy_req.reply(200, @headers, body, req)
        {:error, reason} -> :cowboy_req.reply(502, @headers, reason, req)
      end

    {:ok, reply, state}
  end
end
