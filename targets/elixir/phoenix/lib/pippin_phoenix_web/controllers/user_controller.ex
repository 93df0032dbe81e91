defmodule PippinPhoenixWeb.UserController do
  use PippinPhoenixWeb, :controller

  def index(conn, _params), do: render(conn, :index, users: PippinPhoenix.User.list())
end
