defmodule PippinCowboy.DeviceHandler do
  @moduledoc "GET /device: waits 100 ms +-5 %, then answers 1,024 bytes. Only this request's own process sleeps."

  @behaviour :cowboy_handler

  @body String.duplicate("x", 1024)

  @impl true
  def init(req, state) do
    Process.sleep(wait_ms())
    {:ok, :cowboy_req.reply(200, %{"content-type" => "text/plain"}, @body, req), state}
  end

  # 95 to 104: a sleep of n ms ends somewhere between n and n + 1.
  defp wait_ms, do: 94 + :rand.uniform(10)
end
