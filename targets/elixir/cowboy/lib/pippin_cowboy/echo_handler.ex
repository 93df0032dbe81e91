defmodule PippinCowboy.EchoHandler do
  @moduledoc "GET /ws: a WebSocket that sends every message back as it came. Cowboy answers pings and closes by itself."

  @behaviour :cowboy_websocket

  @impl true
  def init(req, state), do: {:cowboy_websocket, req, state}

  @impl true
  def websocket_handle({kind, _payload} = frame, state) when kind in [:text, :binary] do
    {[frame], state}
  end

  def websocket_handle(_frame, state), do: {[], state}

  @impl true
  def websocket_info(_message, state), do: {[], state}
end
