defmodule PippinPhoenixWeb.UserJSON do
  def index(%{users: users}) do
    for user <- users, do: %{id: user.id, name: user.name, email: user.email}
  end
end
