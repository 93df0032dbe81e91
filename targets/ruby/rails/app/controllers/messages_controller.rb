# A page needs a layout and views, which ActionController::API leaves out.
class MessagesController < ActionController::Base
  layout "catalogue"

  # The rows and an added one, in the order of their texts: Ruby compares bytes.
  def index
    added = Message.new(id: 0, text: params[:add])
    @messages = [*Message.select(:id, :text), added].sort_by(&:text)
  end
end
