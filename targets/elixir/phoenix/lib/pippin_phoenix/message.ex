defmodule PippinPhoenix.Message do
  @moduledoc "A row of the table `messages`."

  use Ecto.Schema

  schema "messages" do
    field :text, :string
  end

  @doc "All messages and one with this text, in the order of their texts: Elixir compares bytes."
  def list_with(text) do
    Enum.sort_by([%__MODULE__{id: 0, text: text} | PippinPhoenix.Repo.all(__MODULE__)], & &1.text)
  end
end
