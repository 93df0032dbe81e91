import Config

if System.get_env("PHX_SERVER") do
  config :pippin_phoenix_clean, PippinPhoenixCleanWeb.Endpoint, server: true
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

# No secret_key_base: nothing here signs anything. A stopping server waits a second for its connections.
config :pippin_phoenix_clean, PippinPhoenixCleanWeb.Endpoint,
  http: listen ++ limits,
  drainer: [shutdown: 1_000]
