class UsersController < ApplicationController
  def index
    render json: User.select(:id, :name, :email).order(:id)
  end
end
