defmodule PippinPhoenixWeb.Telemetry do
  @moduledoc "The poller of measurements that `mix phx.new` starts; no reporter is attached."

  use Supervisor
  import Telemetry.Metrics

  def start_link(arg) do
    Supervisor.start_link(__MODULE__, arg, name: __MODULE__)
  end

  @impl true
  def init(_arg) do
    children = [{:telemetry_poller, measurements: [], period: 10_000}]
    Supervisor.init(children, strategy: :one_for_one)
  end

  @doc "The metrics that a reporter or a dashboard would show."
  def metrics do
    [
      summary("phoenix.endpoint.stop.duration", unit: {:native, :millisecond}),
      summary("phoenix.router_dispatch.stop.duration",
        tags: [:route],
        unit: {:native, :millisecond}
      ),
      summary("pippin_phoenix.repo.query.total_time", unit: {:native, :millisecond}),
      summary("vm.memory.total", unit: {:byte, :kilobyte}),
      summary("vm.total_run_queue_lengths.total")
    ]
  end
end
