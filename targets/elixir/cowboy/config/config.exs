import Config

# Cowboy writes no request log; this keeps the start quiet and the errors visible.
config :logger, level: :warning
