defmodule PippinPlug.MixProject do
  use Mix.Project

  def project do
    [
      app: :pippin_plug,
      version: "0.1.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      deps: deps(),
      releases: [pippin_plug: [include_executables_for: [:unix]]]
    ]
  end

  def application do
    [
      mod: {PippinPlug.Application, []},
      extra_applications: [:logger]
    ]
  end

  # Both HTTP servers, for the variants.
  defp deps do
    [
      {:plug_cowboy, "~> 2.7"},
      {:bandit, "~> 1.5"},
      {:finch, "~> 0.13"},
      {:postgrex, "~> 0.21.0"},
      {:jason, "~> 1.2"}
    ]
  end
end
