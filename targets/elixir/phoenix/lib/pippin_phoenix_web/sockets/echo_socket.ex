defmodule PippinPhoenixWeb.EchoSocket do
  @moduledoc """
  GET /ws: a WebSocket that sends every message back as it came. The server below answers pings and closes.

  Phoenix's channels wrap each message in a JSON array with a topic and an event. Plain messages are what this behaviour is for.
  """

  @behaviour Phoenix.Socket.Transport

  # The endpoint has nothing to start for this socket.
  @impl true
  def child_spec(_options), do: :ignore

  @impl true
  def connect(_info), do: {:ok, nil}

  @impl true
  def init(state), do: {:ok, state}

  @impl true
  def handle_in({payload, options}, state) do
    {:reply, :ok, {Keyword.fetch!(options, :opcode), payload}, state}
  end

  @impl true
  def handle_info(_message, state), do: {:ok, state}

  @impl true
  def terminate(_reason, _state), do: :ok
end
