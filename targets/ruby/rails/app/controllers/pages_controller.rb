# A page needs a layout and views, which ActionController::API leaves out.
class PagesController < ActionController::Base
  layout "catalogue"

  def show
    @n = params[:n].to_i
    @items = (1..12).map { |id| { id: id, name: "Item #{id} <of> page #{@n} & more", price: id * @n } }
  end
end
