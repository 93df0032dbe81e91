module Catalogue
  class Routes < Hanami::Routes
    root to: "greetings.hello"
    get "/hola/:name", to: "greetings.hola", name: %r{[^/]+}
    get "/page/:n", to: "pages.show", n: /\d+/

    if ENV["DATABASE_URL"]
      slice :members, at: "/api" do
        get "/users/", to: "users.index"
      end
    end
  end
end
