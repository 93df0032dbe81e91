require "json"

module Members
  module Actions
    module Users
      class Index < Members::Action
        include Deps["repos.user_repo"]

        def handle(_request, response)
          response.format = :json
          response.body = JSON.generate(user_repo.all.map(&:to_h))
        end
      end
    end
  end
end
