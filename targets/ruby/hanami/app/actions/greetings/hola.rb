module Catalogue
  module Actions
    module Greetings
      class Hola < Catalogue::Action
        def handle(request, response)
          response.format = :txt
          # hanami-router hands out parts of the path as they came.
          response.body = "Hola #{Rack::Utils.unescape_path(request.params[:name])}"
        end
      end
    end
  end
end
