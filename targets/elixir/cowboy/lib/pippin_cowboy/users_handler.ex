defmodule PippinCowboy.UsersHandler do
  @moduledoc "GET /api/users/: the rows of the table `users`, queried for every request."

  @behaviour :cowboy_handler

  @headers %{"content-type" => "application/json"}

  @impl true
  def init(req, state) do
    {:ok, :cowboy_req.reply(200, @headers, PippinCowboy.Users.json(), req), state}
  end
end
