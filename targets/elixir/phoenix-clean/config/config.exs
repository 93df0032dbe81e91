import Config

config :pippin_phoenix_clean, PippinPhoenixCleanWeb.Endpoint,
  adapter: Phoenix.Endpoint.Cowboy2Adapter,
  url: [host: "localhost"],
  render_errors: [formats: [json: PippinPhoenixCleanWeb.ErrorJSON], layout: false]

# Requests are logged at :info; production deployments under load keep warnings and errors.
config :logger, level: :warning

config :phoenix, :json_library, Jason
