# Pippin's workloads on Rack alone, with Sequel; no framework on top.
require "digest"
require "json"
require "rack"
require "sequel"

# DATABASE_POOL is for the whole target, so the processes share it out.
POOL_SIZE = [Integer(ENV.fetch("DATABASE_POOL", "5")) / Integer(ENV.fetch("WORKERS", "1")), 1].max
DATABASE = Sequel.connect(ENV["DATABASE_URL"], max_connections: POOL_SIZE) if ENV["DATABASE_URL"]

ITEMS = ENV["ITEMS_FILE"] ? JSON.parse(File.read(ENV["ITEMS_FILE"], encoding: "UTF-8")) : []

# The first n items of the data file, each with its price times quantity times m.
def items(n, m)
  items = ITEMS.first(n).map { |item| item.merge("total" => item["price"] * item["quantity"] * m) }
  { count: items.size, items: }.to_json
end

# The length and the SHA-256 of a body.
def digest(body)
  digest = Digest::SHA256.new
  length = 0
  while (piece = body.read(65_536))
    digest.update(piece)
    length += piece.bytesize
  end
  "#{length} #{digest.hexdigest}"
end

PLAIN = "text/plain; charset=utf-8".freeze

def answer(status, type, body)
  [status, { "Content-Type" => type, "Content-Length" => body.bytesize.to_s }, [body]]
end

# Rack has no router, so that a `case` is one. Its middleware takes the body of a HEAD away.
use Rack::Head
# For clients that accept gzip, of one route alone.
use Rack::Deflater, if: ->(env, *) { env["PATH_INFO"].start_with?("/json/") } if ENV["ITEMS_FILE"]
map("/static") { run Rack::Files.new(ENV["STATIC_FOLDER"]) } if ENV["STATIC_FOLDER"]
run lambda { |env|
  path = env["PATH_INFO"]
  case path
  when "/"
    answer(200, PLAIN, "Hello World!")
  when %r{\A/hola/([^/]+)\z}
    answer(200, PLAIN, "Hola #{Rack::Utils.unescape_path(Regexp.last_match(1))}")
  when "/upload"
    env["REQUEST_METHOD"] == "POST" ? answer(200, PLAIN, digest(env["rack.input"])) : answer(405, PLAIN, "Method Not Allowed")
  when %r{\A/json/(\d+)\z}
    m = Rack::Utils.parse_query(env["QUERY_STRING"])["m"]
    answer(200, "application/json", items(Integer(Regexp.last_match(1), 10), Integer(m, 10)))
  when "/api/users/"
    if defined?(DATABASE)
      answer(200, "application/json", DATABASE[:users].select(:id, :name, :email).order(:id).all.to_json)
    else
      answer(404, PLAIN, "Not Found")
    end
  else
    answer(404, PLAIN, "Not Found")
  end
}
