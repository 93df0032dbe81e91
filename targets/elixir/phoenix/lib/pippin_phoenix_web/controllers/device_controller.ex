defmodule PippinPhoenixWeb.DeviceController do
  use PippinPhoenixWeb, :controller

  @body String.duplicate("x", 1024)

  # Only the process of this connection sleeps.
  def show(conn, _params) do
    Process.sleep(wait_ms())
    text(conn, @body)
  end

  # 95 to 104: a sleep of n ms ends somewhere between n and n + 1.
  defp wait_ms, do: 94 + :rand.uniform(10)
end
