defmodule PippinPhoenixCleanWeb.GreetingController do
  use Phoenix.Controller, formats: []

  def hello(conn, _params), do: text(conn, "Hello World!")

  def hola(conn, %{"name" => name}), do: text(conn, "Hola #{name}")
end
