module Catalogue
  module Actions
    module Greetings
      class Hello < Catalogue::Action
        def handle(_request, response)
          response.format = :txt
          response.body = "Hello World!"
        end
      end
    end
  end
end
