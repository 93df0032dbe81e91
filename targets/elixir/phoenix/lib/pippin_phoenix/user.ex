defmodule PippinPhoenix.User do
  @moduledoc "A row of the table `users`."

  use Ecto.Schema

  import Ecto.Query

  schema "users" do
    field :name, :string
    field :email, :string
  end

  @doc "All users in the order of their id, from the database."
  def list do
    __MODULE__ |> order_by(:id) |> PippinPhoenix.Repo.all()
  end
end
