defmodule PippinPhoenixCleanWeb.Endpoint do
  @moduledoc "Nothing between the HTTP server and the router: no static files, parsers, session, request id or telemetry."

  use Phoenix.Endpoint, otp_app: :pippin_phoenix_clean

  plug PippinPhoenixCleanWeb.Router
end
