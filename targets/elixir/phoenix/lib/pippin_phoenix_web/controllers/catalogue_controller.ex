defmodule PippinPhoenixWeb.CatalogueController do
  use PippinPhoenixWeb, :controller

  alias PippinPhoenix.{Catalogue, Message}

  def show(conn, %{"n" => digits}) do
    case Integer.parse(digits) do
      {n, ""} -> render(conn, :show, page_title: "Page #{n}", n: n, items: Catalogue.items(n))
      _ -> conn |> put_status(:not_found) |> text("Not Found")
    end
  end

  def messages(conn, %{"add" => text}) do
    render(conn, :messages, page_title: "Messages", messages: Message.list_with(text))
  end
end
