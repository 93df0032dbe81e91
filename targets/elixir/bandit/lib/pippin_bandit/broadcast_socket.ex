defmodule PippinBandit.BroadcastSocket do
  @moduledoc """
  GET /broadcast: a WebSocket whose messages go to all of them. Each is a process of its own, and they know each other by a registry.
  """

  @behaviour WebSock

  @room PippinBandit.Room

  @doc "The registry, for a supervisor."
  def child_spec(_options), do: Registry.child_spec(keys: :duplicate, name: @room)

  @impl true
  def init(state) do
    {:ok, _owner} = Registry.register(@room, :member, nil)
    {:ok, state}
  end

  @impl true
  def handle_in({payload, options}, state) do
    frame = {Keyword.fetch!(options, :opcode), payload}

    Registry.dispatch(@room, :member, fn members ->
      for {pid, _value} <- members, do: send(pid, {:said, frame})
    end)

    {:ok, state}
  end

  @impl true
  def handle_info({:said, frame}, state), do: {:push, frame, state}
  def handle_info(_message, state), do: {:ok, state}
end
