defmodule PippinCowboy.Users do
  @moduledoc "The table `users` through Postgrex."

  @pool __MODULE__
  @query "SELECT id, name, email FROM users ORDER BY id"

  def child_spec(options), do: Postgrex.child_spec([name: @pool] ++ options)

  @doc "All users in the order of their id, from the database, as JSON. The prepared statement is kept; the rows are not."
  def json do
    %Postgrex.Result{rows: rows} = Postgrex.query!(@pool, @query, [], cache_statement: "users")

    rows
    |> Enum.map(fn [id, name, email] -> %{id: id, name: name, email: email} end)
    |> Jason.encode_to_iodata!()
  end
end
