defmodule PippinBandit.Users do
  @moduledoc "The table `users`."

  @query "SELECT id, name, email FROM users ORDER BY id"

  @doc "All users in the order of their id, from the database. The prepared statement is kept, as Ecto keeps it; the rows are not."
  def list do
    %Postgrex.Result{rows: rows} =
      Postgrex.query!(PippinBandit.Database, @query, [], cache_statement: "users")

    for [id, name, email] <- rows, do: %{id: id, name: name, email: email}
  end
end
