Rails.application.configure do
  config.cache_classes = true
  config.eager_load = true
  config.consider_all_requests_local = false

  # No line for each request: that would measure the disk.
  config.log_level = :warn
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stderr))
end
