defmodule PippinPhoenixWeb.Router do
  use PippinPhoenixWeb, :router

  pipeline :browser do
    plug :accepts, ["html"]
    plug :fetch_session
    plug :fetch_live_flash
    plug :put_root_layout, html: {PippinPhoenixWeb.Layouts, :root}
    plug :protect_from_forgery
    plug :put_secure_browser_headers
  end

  pipeline :api do
    plug :accepts, ["json"]
  end

  scope "/", PippinPhoenixWeb do
    pipe_through :browser

    get "/", GreetingController, :hello
    get "/hola/:name", GreetingController, :hola
    get "/page/:n", CatalogueController, :show
    get "/messages", CatalogueController, :messages
  end

  scope "/", PippinPhoenixWeb do
    pipe_through :api

    get "/api/users", UserController, :index
    resources "/products", ProductController, except: [:new, :edit]
    get "/api/proxy", ProxyController, :show
    get "/device", DeviceController, :show
  end

  # Neither HTML nor JSON.
  scope "/", PippinPhoenixWeb do
    get "/events", EventController, :index
  end
end
