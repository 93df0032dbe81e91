# auto_register: false

module Api
  class Action < Catalogue::Action
  end
end
