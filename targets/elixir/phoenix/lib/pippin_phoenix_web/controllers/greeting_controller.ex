defmodule PippinPhoenixWeb.GreetingController do
  use PippinPhoenixWeb, :controller

  def hello(conn, _params), do: text(conn, "Hello World!")

  def hola(conn, %{"name" => name}), do: text(conn, "Hola #{name}")
end
