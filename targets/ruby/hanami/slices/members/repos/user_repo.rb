module Members
  module Repos
    class UserRepo < Hanami::DB::Repo
      def all
        users.select(:id, :name, :email).order(:id).to_a
      end
    end
  end
end
