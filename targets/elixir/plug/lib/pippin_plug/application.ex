defmodule PippinPlug.Application do
  @moduledoc "Starts what the environment asks for: the database's pool, the client of the upstream, the HTTP server."

  use Application

  # One pool a host. Finch's default of 50 connections would be a limit of its own on simultaneous calls; they are opened when needed.
  @upstream_pool [size: 20_000]

  @impl true
  def start(_type, _args) do
    :ok = PippinPlug.Items.read()

    children =
      [{Finch, name: PippinPlug.Finch, pools: %{default: @upstream_pool}}] ++
        database() ++ [Application.fetch_env!(:pippin_plug, :server)]

    Supervisor.start_link(children, strategy: :one_for_one, name: PippinPlug.Supervisor)
  end

  # Without DATABASE_URL there is no database to connect to.
  defp database do
    case Application.get_env(:pippin_plug, :database) do
      nil -> []
      options -> [{Postgrex, [name: PippinPlug.Database] ++ options}]
    end
  end
end
