module Catalogue
  module Views
    module Pages
      class Show < Catalogue::View
        Item = Data.define(:id, :name, :price)

        expose :n, layout: true

        expose :items do |n:|
          (1..12).map { |id| Item.new(id:, name: "Item #{id} <of> page #{n} & more", price: id * n) }
        end
      end
    end
  end
end
