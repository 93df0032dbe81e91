defmodule PippinCowboy.BroadcastHandler do
  @moduledoc """
  GET /broadcast: a WebSocket whose messages go to all of them. Each is a process of its own, and they know each other by a registry.
  """

  @behaviour :cowboy_websocket

  @room PippinCowboy.Room

  @doc "The registry, for a supervisor."
  def child_spec(_options), do: Registry.child_spec(keys: :duplicate, name: @room)

  # Whoever only listens sends nothing, and Cowboy would let it go after a minute.
  @impl true
  def init(req, state), do: {:cowboy_websocket, req, state, %{idle_timeout: :infinity}}

  @impl true
  def websocket_init(state) do
    {:ok, _owner} = Registry.register(@room, :member, nil)
    {[], state}
  end

  @impl true
  def websocket_handle({kind, _payload} = frame, state) when kind in [:text, :binary] do
    Registry.dispatch(@room, :member, fn members ->
      for {pid, _value} <- members, do: send(pid, {:said, frame})
    end)

    {[], state}
  end

  def websocket_handle(_frame, state), do: {[], state}

  @impl true
  def websocket_info({:said, frame}, state), do: {[frame], state}
  def websocket_info(_message, state), do: {[], state}
end
