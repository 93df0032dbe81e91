threads_count = Integer(ENV.fetch("HANAMI_MAX_THREADS", "5"))
threads threads_count, threads_count

processes = Integer(ENV.fetch("WORKERS", "1"))
if processes > 1
  workers processes
  preload_app!
  # The workers must not share the connections that were opened at boot.
  before_fork { Hanami.shutdown }
end

environment ENV.fetch("HANAMI_ENV", "production")
bind "tcp://#{ENV.fetch("HOST", "127.0.0.1")}:#{ENV.fetch("PORT", "3000")}"
