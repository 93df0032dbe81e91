defmodule PippinCowboy.MixProject do
  use Mix.Project

  # The route `debian` of target.toml takes Cowboy from ERL_LIBS, where no package can be had from hex.pm.
  @cowboy_from_debian System.get_env("COWBOY_FROM") == "debian"

  def project do
    [
      app: :pippin_cowboy,
      version: "0.1.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      deps: deps(@cowboy_from_debian),
      releases: [pippin_cowboy: [include_executables_for: [:unix]]]
    ]
  end

  def application do
    [
      mod: {PippinCowboy.Application, []},
      extra_applications: [:logger, :inets] ++ if(@cowboy_from_debian, do: [:cowboy], else: [])
    ]
  end

  defp deps(true), do: []
  defp deps(false), do: [{:cowboy, "~> 2.16"}]
end
