defmodule PippinCowboy.EventsHandler do
  @moduledoc "GET /events: an event each 100 ms, with its number and the milliseconds since 1970. Only this request's own process sleeps."

  @behaviour :cowboy_handler

  @headers %{"content-type" => "text/event-stream", "cache-control" => "no-store"}

  @impl true
  def init(req, state) do
    req = :cowboy_req.stream_reply(200, @headers, req)
    Enum.each(0..99, &event(&1, req))
    {:ok, req, state}
  end

  defp event(n, req) do
    if n > 0, do: Process.sleep(100)
    data = "#{n} #{System.os_time(:millisecond)}"
    :ok = :cowboy_req.stream_events(%{data: data}, if(n == 99, do: :fin, else: :nofin), req)
  end
end
