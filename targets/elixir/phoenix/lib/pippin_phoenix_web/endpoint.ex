defmodule PippinPhoenixWeb.Endpoint do
  use Phoenix.Endpoint, otp_app: :pippin_phoenix

  # The session is stored in a signed cookie.
  @session_options [
    store: :cookie,
    key: "_pippin_phoenix_key",
    signing_salt: "Jk0vYb2S",
    same_site: "Lax"
  ]

  socket "/live", Phoenix.LiveView.Socket,
    websocket: [connect_info: [session: @session_options]],
    longpoll: [connect_info: [session: @session_options]]

  socket "/ws", PippinPhoenixWeb.EchoSocket, websocket: [path: "/"]

  # Whoever only listens sends nothing, and Phoenix would let it go after a minute.
  socket "/broadcast", PippinPhoenixWeb.BroadcastSocket,
    websocket: [path: "/", timeout: :infinity]

  plug Plug.Static,
    at: "/",
    from: :pippin_phoenix,
    gzip: false,
    only: PippinPhoenixWeb.static_paths()

  plug Plug.RequestId
  plug Plug.Telemetry, event_prefix: [:phoenix, :endpoint]

  plug Plug.Parsers,
    parsers: [:urlencoded, :multipart, :json],
    pass: ["*/*"],
    json_decoder: Phoenix.json_library()

  plug Plug.MethodOverride
  plug Plug.Head
  plug Plug.Session, @session_options
  plug PippinPhoenixWeb.Router
end
