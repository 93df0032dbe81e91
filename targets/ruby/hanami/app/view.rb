# auto_register: false

require "hanami/view"

module Catalogue
  class View < Hanami::View
  end
end
