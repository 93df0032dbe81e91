# Pippin's workloads on Sinatra, with its ERB templates and Sequel.
require "digest"
require "json"
require "sequel"
require "sinatra/base"
require_relative "products"

# DATABASE_POOL is for the whole target, so the processes share it out.
POOL_SIZE = [Integer(ENV.fetch("DATABASE_POOL", "5")) / Integer(ENV.fetch("WORKERS", "1")), 1].max
DATABASE = Sequel.connect(ENV["DATABASE_URL"], max_connections: POOL_SIZE) if ENV["DATABASE_URL"]

ITEMS = JSON.parse(File.read(ENV["ITEMS_FILE"], encoding: "UTF-8")) if ENV["ITEMS_FILE"]

class Catalogue < Sinatra::Base
  set :environment, :production
  set :logging, false
  set :erb, escape_html: true
  # For clients that accept gzip, of one route alone.
  use Rack::Deflater, if: ->(env, *) { env["PATH_INFO"].start_with?("/json/") } if ENV["ITEMS_FILE"]

  # The rows and an added one, in the order of their texts: Ruby compares bytes.
  def messages_with(text)
    messages = DATABASE[:messages].select(:id, :text).all
    messages << { id: 0, text: }
    messages.sort_by { |message| message[:text] }
  end

  get "/" do
    content_type :text
    "Hello World!"
  end

  get "/hola/:name" do
    content_type :text
    "Hola #{params["name"]}"
  end

  get %r{/page/(\d+)} do |number|
    n = Integer(number, 10)
    items = (1..12).map { |id| { id:, name: "Item #{id} <of> page #{n} & more", price: id * n } }
    erb :page, locals: { title: "Page #{n}", n:, items: }
  end

  post "/upload" do
    digest = Digest::SHA256.new
    length = 0
    while (piece = request.body.read(65_536))
      digest.update(piece)
      length += piece.bytesize
    end
    content_type :text
    "#{length} #{digest.hexdigest}"
  end

  if defined?(ITEMS)
    get %r{/json/(\d+)} do |number|
      m = Integer(params["m"], 10)
      items = ITEMS.first(Integer(number, 10)).map { |item| item.merge("total" => item["price"] * item["quantity"] * m) }
      content_type :json
      { count: items.size, items: }.to_json
    end
  end

  if ENV["STATIC_FOLDER"]
    get "/static/:file" do
      send_file File.join(ENV["STATIC_FOLDER"], params["file"])
    end
  end

  if defined?(DATABASE)
    get "/api/users/" do
      content_type :json
      DATABASE[:users].select(:id, :name, :email).order(:id).all.to_json
    end

    get "/messages" do
      erb :messages, locals: { title: "Messages", messages: messages_with(params["add"]) }
    end

    register Products
  end
end
