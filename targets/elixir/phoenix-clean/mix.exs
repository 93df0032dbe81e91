defmodule PippinPhoenixClean.MixProject do
  use Mix.Project

  def project do
    [
      app: :pippin_phoenix_clean,
      version: "0.1.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      deps: deps(),
      releases: [pippin_phoenix_clean: [include_executables_for: [:unix]]]
    ]
  end

  def application do
    [
      mod: {PippinPhoenixClean.Application, []},
      extra_applications: [:logger]
    ]
  end

  defp deps do
    [
      {:phoenix, "~> 1.7.21"},
      {:jason, "~> 1.2"},
      {:plug_cowboy, "~> 2.7"}
    ]
  end
end
