require "logger" # Rails 6.1 counts on another gem to have loaded it
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"

Bundler.require(*Rails.groups)

module Catalogue
  class Application < Rails::Application
    # The same code runs on the Rails of rubygems.org and on Debian's.
    config.load_defaults "#{Rails::VERSION::MAJOR}.#{Rails::VERSION::MINOR}"
    config.api_only = true
    # By default a body that is no JSON is 400.
    config.action_dispatch.rescue_responses["ActionDispatch::Http::Parameters::ParseError"] = :unprocessable_entity
  end
end
