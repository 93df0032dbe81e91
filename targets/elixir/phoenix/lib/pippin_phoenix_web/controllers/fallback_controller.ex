defmodule PippinPhoenixWeb.FallbackController do
  use PippinPhoenixWeb, :controller

  def call(conn, {:error, %Ecto.Changeset{errors: errors}}), do: error(conn, status(errors))
  def call(conn, {:error, status}), do: error(conn, status)

  defp error(conn, status) do
    conn
    |> put_status(status)
    |> put_view(json: PippinPhoenixWeb.ErrorJSON)
    |> render(:"#{Plug.Conn.Status.code(status)}")
  end

  # What the database said: no row was changed, or the name is taken. The rest is what the changeset said.
  defp status(id: _), do: :not_found
  defp status(name: {_, [{:constraint, :unique} | _]}), do: :conflict
  defp status(_errors), do: :unprocessable_entity
end

# By default a body that is no JSON is 400.
defimpl Plug.Exception, for: Plug.Parsers.ParseError do
  def status(_error), do: 422
  def actions(_error), do: []
end
