import Config

# Read when the release starts. What a workload does not need is absent from the environment.

if System.get_env("PHX_SERVER") do
  config :pippin_phoenix, PippinPhoenixWeb.Endpoint, server: true
end

host = System.get_env("HOST", "127.0.0.1")

address =
  case :inet.parse_address(String.to_charlist(host)) do
    {:ok, address} -> address
    {:error, _} -> raise "HOST must be an IP address such as 127.0.0.1, not #{inspect(host)}"
  end

listen = [ip: address, port: String.to_integer(System.get_env("PORT", "4000"))]

# Requests a connection may carry and connections at once: Cowboy and Ranch have limits of their own, the variant `tuned` lifts them.
limits =
  case System.get_env("MAX_KEEPALIVE") do
    nil ->
      []

    number ->
      [
        protocol_options: [max_keepalive: String.to_integer(number)],
        transport_options: [max_connections: :infinity]
      ]
  end

# How long a stopping server waits for its connections; kept-alive ones never end by themselves.
patience_ms = 1_000

server =
  case System.get_env("HTTP_SERVER", "cowboy") do
    "cowboy" ->
      [
        adapter: Phoenix.Endpoint.Cowboy2Adapter,
        http: listen ++ limits,
        drainer: [shutdown: patience_ms]
      ]

    "bandit" ->
      [
        adapter: Bandit.PhoenixAdapter,
        http: listen ++ [thousand_island_options: [shutdown_timeout: patience_ms]]
      ]
  end

secret_key_base =
  System.get_env("SECRET_KEY_BASE") ||
    raise "environment variable SECRET_KEY_BASE is missing; `mix phx.gen.secret` makes one"

config :pippin_phoenix, PippinPhoenixWeb.Endpoint, [secret_key_base: secret_key_base] ++ server

if url = System.get_env("DATABASE_URL") do
  config :pippin_phoenix, PippinPhoenix.Repo,
    url: url,
    pool_size: String.to_integer(System.get_env("DATABASE_POOL", "10"))
end

if url = System.get_env("UPSTREAM_URL") do
  config :pippin_phoenix, :upstream_url, url
end
