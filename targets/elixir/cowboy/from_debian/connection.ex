defmodule PippinCowboy.Connection do
  @moduledoc "A connection to PostgreSQL, as poolboy starts it."

  @behaviour :poolboy_worker

  @impl true
  def start_link(options) do
    :pgsql_proto.start_link(
      host: String.to_charlist(options[:hostname]),
      port: options[:port],
      database: String.to_charlist(options[:database]),
      user: String.to_charlist(options[:username]),
      password: String.to_charlist(options[:password]),
      as_binary: true
    )
  end
end
