import Config

config :pippin_phoenix,
  ecto_repos: [PippinPhoenix.Repo]

config :pippin_phoenix, PippinPhoenixWeb.Endpoint,
  url: [host: "localhost"],
  render_errors: [
    formats: [html: PippinPhoenixWeb.ErrorHTML, json: PippinPhoenixWeb.ErrorJSON],
    layout: false
  ],
  pubsub_server: PippinPhoenix.PubSub,
  live_view: [signing_salt: "tYxA0q4W"]

config :logger, :console,
  format: "$time $metadata[$level] $message\n",
  metadata: [:request_id]

# Requests are logged at :info; production deployments under load keep warnings and errors.
config :logger, level: :warning

config :phoenix, :json_library, Jason
