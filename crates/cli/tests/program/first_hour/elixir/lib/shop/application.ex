defmodule Shop.Application do
  use Application

  @impl true
  def start(_type, _args) do
    port = String.to_integer(System.get_env("PORT") || "4000")
    dispatch = :cowboy_router.compile([{:_, [{"/", Shop.Hello, []}]}])

    children = [
      %{id: :http, start: {:cowboy, :start_clear, [:http, [port: port], %{env: %{dispatch: dispatch}}]}}
    ]

    Supervisor.start_link(children, strategy: :one_for_one, name: Shop.Supervisor)
  end
end
