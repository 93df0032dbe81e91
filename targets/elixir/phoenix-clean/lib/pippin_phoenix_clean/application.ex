defmodule PippinPhoenixClean.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _args) do
    children = [PippinPhoenixCleanWeb.Endpoint]
    Supervisor.start_link(children, strategy: :one_for_one, name: PippinPhoenixClean.Supervisor)
  end

  @impl true
  def config_change(changed, _new, removed) do
    PippinPhoenixCleanWeb.Endpoint.config_change(changed, removed)
    :ok
  end
end
