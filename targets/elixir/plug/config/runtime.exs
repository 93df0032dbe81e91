import Config

# Read when the release starts. What a workload does not need is absent from the environment.

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

# Cowboy packs for clients that accept gzip. Its stream handler looks at every request, so it is there only with the route that uses
# it. Bandit packs by itself.
compress = [compress: System.get_env("ITEMS_FILE") != nil]

# Bandit waits 15 s for kept-alive connections when it stops; they never end by themselves.
server =
  case System.get_env("HTTP_SERVER", "cowboy") do
    "cowboy" ->
      {Plug.Cowboy, scheme: :http, plug: PippinPlug.Router, options: listen ++ limits ++ compress}

    "bandit" ->
      {Bandit,
       [plug: PippinPlug.Router, thousand_island_options: [shutdown_timeout: 1_000]] ++ listen}
  end

config :pippin_plug, :server, server

if url = System.get_env("DATABASE_URL") do
  %URI{host: database_host, port: database_port, path: "/" <> database, userinfo: userinfo} =
    URI.parse(url)

  [username | password] = String.split(userinfo || "postgres", ":", parts: 2)

  config :pippin_plug, :database,
    hostname: database_host,
    port: database_port || 5432,
    database: database,
    username: URI.decode(username),
    password: password |> List.first() |> then(&(&1 && URI.decode(&1))),
    pool_size: String.to_integer(System.get_env("DATABASE_POOL", "10"))
end

if url = System.get_env("UPSTREAM_URL") do
  config :pippin_plug, :upstream_url, url
end
