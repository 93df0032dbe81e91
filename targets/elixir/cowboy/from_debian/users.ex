defmodule PippinCowboy.Users do
  @moduledoc "The table `users` through p1_pgsql, its connections kept in a pool of poolboy."

  @pool __MODULE__
  @query "SELECT id, name, email FROM users ORDER BY id"

  # As long as Postgrex waits.
  @timeout_ms 15_000

  def child_spec(options) do
    {size, options} = Keyword.pop!(options, :pool_size)

    pool = [
      name: {:local, @pool},
      worker_module: PippinCowboy.Connection,
      size: size,
      max_overflow: 0
    ]

    :poolboy.child_spec(@pool, pool, options)
  end

  @doc "All users in the order of their id, from the database, as JSON."
  def json do
    {:ok, [{_command, _columns, rows}]} =
      :poolboy.transaction(@pool, &:pgsql.squery(&1, @query, @timeout_ms), @timeout_ms)

    rows
    |> Enum.map(fn [id, name, email] -> [id: String.to_integer(id), name: name, email: email] end)
    |> :jsx.encode()
  end
end
