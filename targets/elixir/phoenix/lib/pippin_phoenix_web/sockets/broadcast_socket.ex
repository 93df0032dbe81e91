defmodule PippinPhoenixWeb.BroadcastSocket do
  @moduledoc "GET /broadcast: a WebSocket whose messages go to all of them, by the PubSub that channels use."

  @behaviour Phoenix.Socket.Transport

  @pubsub PippinPhoenix.PubSub
  @topic "broadcast"

  @impl true
  def child_spec(_options), do: :ignore

  @impl true
  def connect(_info), do: {:ok, nil}

  # The process that calls this is the socket's.
  @impl true
  def init(state) do
    :ok = Phoenix.PubSub.subscribe(@pubsub, @topic)
    {:ok, state}
  end

  @impl true
  def handle_in({payload, options}, state) do
    frame = {Keyword.fetch!(options, :opcode), payload}
    :ok = Phoenix.PubSub.broadcast(@pubsub, @topic, {:said, frame})
    {:ok, state}
  end

  @impl true
  def handle_info({:said, frame}, state), do: {:push, frame, state}
  def handle_info(_message, state), do: {:ok, state}

  @impl true
  def terminate(_reason, _state), do: :ok
end
