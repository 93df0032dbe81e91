module Members
  module Relations
    class Users < Hanami::DB::Relation
      schema :users, infer: true
    end
  end
end
