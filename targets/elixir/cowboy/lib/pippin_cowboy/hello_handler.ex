defmodule PippinCowboy.HelloHandler do
  @moduledoc "GET /"

  @behaviour :cowboy_handler

  @impl true
  def init(req, state) do
    {:ok, :cowboy_req.reply(200, %{"content-type" => "text/plain"}, "Hello World!", req), state}
  end
end
