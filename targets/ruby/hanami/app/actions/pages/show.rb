module Catalogue
  module Actions
    module Pages
      class Show < Catalogue::Action
        def handle(request, response)
          response.format = :html
          response.render(view, n: Integer(request.params[:n], 10))
        end
      end
    end
  end
end
