defmodule PippinBandit.MixProject do
  use Mix.Project

  def project do
    [
      app: :pippin_bandit,
      version: "0.1.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      deps: deps(),
      releases: [pippin_bandit: [include_executables_for: [:unix]]]
    ]
  end

  def application do
    [
      mod: {PippinBandit.Application, []},
      extra_applications: [:logger]
    ]
  end

  defp deps do
    [
      {:bandit, "~> 1.5"},
      {:websock_adapter, "~> 0.5.3"},
      {:finch, "~> 0.13"},
      {:postgrex, "~> 0.21.0"},
      {:jason, "~> 1.2"}
    ]
  end
end
