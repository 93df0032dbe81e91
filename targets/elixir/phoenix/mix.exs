defmodule PippinPhoenix.MixProject do
  use Mix.Project

  def project do
    [
      app: :pippin_phoenix,
      version: "0.1.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      deps: deps(),
      releases: [pippin_phoenix: [include_executables_for: [:unix]]]
    ]
  end

  def application do
    [
      mod: {PippinPhoenix.Application, []},
      extra_applications: [:logger, :runtime_tools]
    ]
  end

  # What `mix phx.new` asks for, without assets, mail, translations and the dashboard; both HTTP servers, for the variants.
  defp deps do
    [
      {:phoenix, "~> 1.7.21"},
      {:phoenix_ecto, "~> 4.6"},
      {:ecto_sql, "~> 3.13.0"},
      {:postgrex, "~> 0.21.0"},
      {:phoenix_html, "~> 4.1"},
      {:phoenix_live_view, "~> 0.20.14"},
      {:finch, "~> 0.13"},
      {:telemetry_metrics, "~> 1.0"},
      {:telemetry_poller, "~> 1.0"},
      {:jason, "~> 1.2"},
      {:plug_cowboy, "~> 2.7"},
      {:bandit, "~> 1.5"}
    ]
  end
end
