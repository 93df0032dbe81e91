import Config

# Read when the release starts. What a workload does not need is absent from the environment.

host = System.get_env("HOST", "127.0.0.1")

address =
  case :inet.parse_address(String.to_charlist(host)) do
    {:ok, address} -> address
    {:error, _} -> raise "HOST must be an IP address such as 127.0.0.1, not #{inspect(host)}"
  end

listen = [ip: address, port: String.to_integer(System.get_env("PORT", "4000"))]

# Bandit waits 15 s for kept-alive connections when it stops; they never end by themselves.
config :pippin_bandit,
       :server,
       {Bandit,
        [plug: PippinBandit.Handler, thousand_island_options: [shutdown_timeout: 1_000]] ++ listen}

if url = System.get_env("DATABASE_URL") do
  %URI{host: database_host, port: database_port, path: "/" <> database, userinfo: userinfo} =
    URI.parse(url)

  [username | password] = String.split(userinfo || "postgres", ":", parts: 2)

  config :pippin_bandit, :database,
    hostname: database_host,
    port: database_port || 5432,
    database: database,
    username: URI.decode(username),
    password: password |> List.first() |> then(&(&1 && URI.decode(&1))),
    pool_size: String.to_integer(System.get_env("DATABASE_POOL", "10"))
end

if url = System.get_env("UPSTREAM_URL") do
  config :pippin_bandit, :upstream_url, url
end
