defmodule PippinCowboy.DatabaseUrl do
  @moduledoc "What DATABASE_URL and DATABASE_POOL say, as options of a driver."

  @doc "The options, or nil without DATABASE_URL."
  def options do
    with url when is_binary(url) <- System.get_env("DATABASE_URL") do
      %URI{host: host, port: port, path: "/" <> database, userinfo: userinfo} = URI.parse(url)
      [username | password] = String.split(userinfo || "postgres", ":", parts: 2)

      [
        hostname: host,
        port: port || 5432,
        database: database,
        username: URI.decode(username),
        password: URI.decode(List.first(password, "")),
        pool_size: String.to_integer(System.get_env("DATABASE_POOL", "10"))
      ]
    end
  end
end
