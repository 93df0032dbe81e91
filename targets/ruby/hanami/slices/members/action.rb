# auto_register: false

module Members
  class Action < Catalogue::Action
  end
end
