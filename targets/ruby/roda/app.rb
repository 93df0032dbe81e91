# Pippin's workloads on Roda, with its render plugin (Tilt and Erubi) and Sequel.
require "json"
require "roda"
require "sequel"

# DATABASE_POOL is for the whole target, so the processes share it out.
POOL_SIZE = [Integer(ENV.fetch("DATABASE_POOL", "5")) / Integer(ENV.fetch("WORKERS", "1")), 1].max
DATABASE = Sequel.connect(ENV["DATABASE_URL"], max_connections: POOL_SIZE) if ENV["DATABASE_URL"]

class Catalogue < Roda
  plugin :head
  plugin :json
  plugin :unescape_path
  plugin :render, escape: true

  PLAIN = "text/plain; charset=utf-8".freeze

  def plain(text)
    response[RodaResponseHeaders::CONTENT_TYPE] = PLAIN
    text
  end

  # The rows and an added one, in the order of their texts: Ruby compares bytes.
  def messages_with(text)
    messages = DATABASE[:messages].select(:id, :text).all
    messages << { id: 0, text: }
    messages.sort_by { |message| message[:text] }
  end

  route do |r|
    r.root { plain "Hello World!" }

    r.get("hola", String) { |name| plain "Hola #{name}" }

    r.get "page", Integer do |n|
      items = (1..12).map { |id| { id:, name: "Item #{id} <of> page #{n} & more", price: id * n } }
      view "page", locals: { n:, items: }, layout_opts: { locals: { title: "Page #{n}" } }
    end

    if defined?(DATABASE)
      r.get "api/users/" do
        DATABASE[:users].select(:id, :name, :email).order(:id).all
      end

      r.get "messages" do
        messages = messages_with(r.params["add"])
        view "messages", locals: { messages: }, layout_opts: { locals: { title: "Messages" } }
      end
    end
  end
end
