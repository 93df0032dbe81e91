class GreetingsController < ApplicationController
  def hello
    render plain: "Hello World!"
  end

  def hola
    render plain: "Hola #{params[:name]}"
  end
end
