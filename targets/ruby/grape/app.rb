# Pippin's workloads on Grape, with Sequel.
require "grape"
require "sequel"

# DATABASE_POOL is for the whole target, so the processes share it out.
POOL_SIZE = [Integer(ENV.fetch("DATABASE_POOL", "5")) / Integer(ENV.fetch("WORKERS", "1")), 1].max
DATABASE = Sequel.connect(ENV["DATABASE_URL"], max_connections: POOL_SIZE) if ENV["DATABASE_URL"]

class Catalogue < Grape::API
  content_type :txt, "text/plain"
  content_type :json, "application/json"
  default_format :txt

  get("/") { "Hello World!" }

  # The name may hold a dot, which Grape would take for the start of a format.
  get("/hola/:name", requirements: { name: %r{[^/]+} }) { "Hola #{params[:name]}" }

  if defined?(DATABASE)
    get("/api/users/") do
      env["api.format"] = :json
      DATABASE[:users].select(:id, :name, :email).order(:id).all
    end
  end
end
