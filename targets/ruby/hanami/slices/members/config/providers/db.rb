# The address is in DATABASE_URL. DATABASE_POOL is for the whole target, so the processes share it out.
Members::Slice.configure_provider :db do
  config.gateway :default do |gateway|
    connections = Integer(ENV.fetch("DATABASE_POOL", "5")) / Integer(ENV.fetch("WORKERS", "1"))
    gateway.connection_options max_connections: [connections, 1].max
  end
end
