defmodule PippinCowboy.Application do
  @moduledoc "Starts the pool of database connections, if there is a database, and Cowboy on HOST and PORT."

  use Application

  alias PippinCowboy.{BroadcastHandler, DatabaseUrl, DeviceHandler, EchoHandler, EventsHandler}
  alias PippinCowboy.{HelloHandler, HolaHandler, JsonHandler}
  alias PippinCowboy.{ProxyHandler, UploadHandler, Upstream, Users, UsersHandler}

  @listener :http

  @impl true
  def start(_type, _args) do
    :ok = Upstream.configure()
    :ok = JsonHandler.read()

    with {:ok, pid} <- Supervisor.start_link([BroadcastHandler | database()], strategy: :one_for_one),
         {:ok, _} <- :cowboy.start_clear(@listener, transport_options(), protocol_options()) do
      {:ok, pid}
    end
  end

  @impl true
  def prep_stop(state) do
    :ok = :cowboy.stop_listener(@listener)
    state
  end

  # Without DATABASE_URL there is no database to connect to.
  defp database do
    case DatabaseUrl.options() do
      nil -> []
      options -> [Users.child_spec(options)]
    end
  end

  defp transport_options do
    %{
      # Ranch's default of 1,024 would hold back the devices, not serve them more slowly.
      max_connections: :infinity,
      socket_opts: [ip: address(), port: port()]
    }
  end

  defp protocol_options do
    %{env: %{dispatch: dispatch()}} |> Map.merge(max_keepalive()) |> Map.merge(compression())
  end

  # For clients that accept gzip. The handler looks at every request, so it is there only with the route that uses it.
  defp compression do
    case System.get_env("ITEMS_FILE") do
      nil -> %{}
      _ -> %{stream_handlers: [:cowboy_compress_h, :cowboy_stream_h]}
    end
  end

  # What the router does not know it answers itself, with 404.
  defp dispatch do
    :cowboy_router.compile([
      {:_,
       [
         {"/", HelloHandler, []},
         {"/hola/:name", HolaHandler, []},
         {"/json/:n", [{:n, :int}], JsonHandler, []},
         {"/api/users/", UsersHandler, []},
         {"/api/proxy/", ProxyHandler, []},
         {"/device", DeviceHandler, []},
         {"/events", EventsHandler, []},
         {"/upload", UploadHandler, []},
         {"/ws", EchoHandler, []},
         {"/broadcast", BroadcastHandler, []}
       ] ++ files()}
    ])
  end

  defp files do
    case System.get_env("STATIC_FOLDER") do
      nil -> []
      folder -> [{"/static/[...]", :cowboy_static, {:dir, folder}}]
    end
  end

  # Requests a connection may carry; Cowboy has its own default.
  defp max_keepalive do
    case System.get_env("MAX_KEEPALIVE") do
      nil -> %{}
      number -> %{max_keepalive: String.to_integer(number)}
    end
  end

  defp address do
    host = System.get_env("HOST", "127.0.0.1")

    case :inet.parse_address(String.to_charlist(host)) do
      {:ok, address} -> address
      {:error, _} -> raise "HOST must be an IP address such as 127.0.0.1, not #{inspect(host)}"
    end
  end

  defp port, do: "PORT" |> System.get_env("4000") |> String.to_integer()
end
