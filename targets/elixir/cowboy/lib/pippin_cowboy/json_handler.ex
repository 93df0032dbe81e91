defmodule PippinCowboy.JsonHandler do
  @moduledoc "GET /json/:n?m=M: the first n items of the data file, each with its price times quantity times M."

  @behaviour :cowboy_handler

  alias PippinCowboy.Json

  @headers %{"content-type" => "application/json"}

  @doc "Reads the data file, if there is one. Terms kept in this way are shared by all processes and not copied."
  def read do
    if path = System.get_env("ITEMS_FILE") do
      :persistent_term.put(__MODULE__, path |> File.read!() |> Json.decode!())
    end

    :ok
  end

  # The router has read the number.
  @impl true
  def init(req, state) do
    %{m: m} = :cowboy_req.match_qs([{:m, :int}], req)
    items = __MODULE__ |> :persistent_term.get([]) |> Enum.take(:cowboy_req.binding(:n, req))
    items = for item <- items, do: Map.put(item, "total", item["price"] * item["quantity"] * m)
    body = Json.encode(%{"count" => length(items), "items" => items})
    {:ok, :cowboy_req.reply(200, @headers, body, req), state}
  end
end
