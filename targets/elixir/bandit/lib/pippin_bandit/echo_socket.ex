defmodule PippinBandit.EchoSocket do
  @moduledoc "GET /ws: a WebSocket that sends every message back as it came. Bandit answers pings and closes by itself."

  @behaviour WebSock

  @impl true
  def init(state), do: {:ok, state}

  @impl true
  def handle_in({payload, options}, state) do
    {:push, {Keyword.fetch!(options, :opcode), payload}, state}
  end

  @impl true
  def handle_info(_message, state), do: {:ok, state}
end
