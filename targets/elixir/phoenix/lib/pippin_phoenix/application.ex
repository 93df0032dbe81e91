defmodule PippinPhoenix.Application do
  @moduledoc false

  use Application

  # One pool a host. Finch's default of 50 connections would be a limit of its own on simultaneous calls; they are opened when needed.
  @upstream_pool [size: 20_000]

  @impl true
  def start(_type, _args) do
    children =
      [
        PippinPhoenixWeb.Telemetry,
        {Phoenix.PubSub, name: PippinPhoenix.PubSub},
        {Finch, name: PippinPhoenix.Finch, pools: %{default: @upstream_pool}}
      ] ++ repo() ++ [PippinPhoenixWeb.Endpoint]

    Supervisor.start_link(children, strategy: :one_for_one, name: PippinPhoenix.Supervisor)
  end

  @impl true
  def config_change(changed, _new, removed) do
    PippinPhoenixWeb.Endpoint.config_change(changed, removed)
    :ok
  end

  # Without DATABASE_URL there is no database to connect to.
  defp repo do
    if Application.get_env(:pippin_phoenix, PippinPhoenix.Repo),
      do: [PippinPhoenix.Repo],
      else: []
  end
end
