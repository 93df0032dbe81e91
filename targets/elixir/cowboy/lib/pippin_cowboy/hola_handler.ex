defmodule PippinCowboy.HolaHandler do
  @moduledoc "GET /hola/:name; the router has decoded the name."

  @behaviour :cowboy_handler

  @headers %{"content-type" => "text/plain; charset=utf-8"}

  @impl true
  def init(req, state) do
    name = :cowboy_req.binding(:name, req)
    {:ok, :cowboy_req.reply(200, @headers, ["Hola ", name], req), state}
  end
end
