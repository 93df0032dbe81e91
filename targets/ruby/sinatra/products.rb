# Products: listed, read, added, changed and removed.
module Products
  COLUMNS = %i[id name category price].freeze
  # Any other id matches no route. One of more than 32 bits is none of a product.
  ONE = %r{/products/(?<id>\d{1,18})}

  module Helpers
    def text?(value) = value.is_a?(String) && value.length.between?(1, 100)

    # Name, category and price of the body; 422 where it is no product.
    def sent
      body = JSON.parse(request.body.read)
      name, category, price = body.values_at("name", "category", "price") if body.is_a?(Hash)
      halt 422 unless text?(name) && text?(category) && price.is_a?(Integer) && price.between?(0, 1_000_000)
      { name:, category:, price: }
    rescue JSON::ParserError
      halt 422
    end

    def product = DATABASE[:products].where(id: Integer(params["id"], 10)).returning(*COLUMNS)

    # Rows that a statement returns. Sinatra writes a log of what reaches a handler of errors.
    def unless_taken
      yield
    rescue Sequel::UniqueConstraintViolation
      halt 409
    end

    # Answers with the row that a statement returned.
    def answer(rows)
      halt 404 if rows.empty?
      content_type :json
      rows.first.to_json
    end
  end

  def self.registered(app)
    app.helpers Helpers

    app.get "/products" do
      page = params.fetch("page", "1")
      halt 422 unless page.match?(/\A0*[1-9][0-9]{0,8}\z/)
      products = DATABASE[:products].select(*COLUMNS).order(:id).limit(20, (page.to_i - 1) * 20)
      products = products.where(category: params["category"]) if params["category"]
      content_type :json
      products.all.to_json
    end

    app.post "/products" do
      rows = unless_taken { DATABASE[:products].returning(*COLUMNS).insert(sent) }
      headers "Location" => "/products/#{rows.first[:id]}"
      status 201
      answer rows
    end

    app.get(ONE) { answer product.select(*COLUMNS).all }
    app.put(ONE) { answer(unless_taken { product.update(sent) }) }
    app.delete(ONE) { product.delete.empty? ? 404 : 204 }
  end
end
