# auto_register: false

require "hanami/action"

module Catalogue
  class Action < Hanami::Action
  end
end
