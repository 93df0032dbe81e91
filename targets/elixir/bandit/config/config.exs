import Config

# No plug logs requests here; this keeps the start quiet and the errors visible.
config :logger, level: :warning
