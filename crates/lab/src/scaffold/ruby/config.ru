# Replace this by the framework. What Ruby and Rack have the means for is served so far.
require 'digest'
require 'json'
require 'rack'

# Each variable is there where its workload is measured.
ITEMS = JSON.parse(File.read(ENV['ITEMS_FILE'], encoding: 'UTF-8')) if ENV['ITEMS_FILE']

# The first n items, each with its price times quantity times m.
def items(n, m)
  items = ITEMS.first(n).map { |item| item.merge('total' => item['price'] * item['quantity'] * m) }
  JSON.generate('count' => items.size, 'items' => items)
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

def answer(status, type, body)
  [status, { 'content-type' => type, 'content-length' => body.bytesize.to_s }, [body]]
end

use Rack::Head
# For clients that accept gzip, of one route alone.
use Rack::Deflater, if: ->(env, *) { env['PATH_INFO'].start_with?('/json/') } if ENV['ITEMS_FILE']
map('/static') { run Rack::Files.new(ENV['STATIC_FOLDER']) } if ENV['STATIC_FOLDER']
run lambda { |env|
  path = env['PATH_INFO']
  if env['REQUEST_METHOD'] == 'POST'
    next answer(200, 'text/plain', digest(env['rack.input'])) if path == '/upload'
  elsif path == '/'
    next answer(200, 'text/plain', 'Hello World!')
  elsif defined?(ITEMS) && (listed = %r{\A/json/(\d+)\z}.match(path))
    m = Rack::Utils.parse_query(env['QUERY_STRING'])['m']
    next answer(200, 'application/json', items(Integer(listed[1], 10), Integer(m, 10)))
  end
  answer(404, 'text/plain', '')
}
