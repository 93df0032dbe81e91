defmodule PippinPhoenixCleanWeb.Router do
  @moduledoc "No pipelines. HEAD has routes of its own because Plug.Head is not there to turn it into GET."

  use Phoenix.Router, helpers: false

  scope "/", PippinPhoenixCleanWeb do
    get "/", GreetingController, :hello
    head "/", GreetingController, :hello
    get "/hola/:name", GreetingController, :hola
    head "/hola/:name", GreetingController, :hola
  end
end
