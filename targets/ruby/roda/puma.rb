threads_count = Integer(ENV.fetch("PUMA_THREADS", "5"))
threads threads_count, threads_count

processes = Integer(ENV.fetch("WORKERS", "1"))
workers processes if processes > 1

environment "production"
bind "tcp://#{ENV.fetch("HOST", "127.0.0.1")}:#{ENV.fetch("PORT", "3000")}"
