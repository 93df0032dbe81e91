defmodule PippinCowboy.MixProject do
  use Mix.Project

  # The route `debian` of target.toml takes what the route `hex` has from hex.pm out of Debian's packages.
  @from_debian System.get_env("PIPPIN_ROUTE") == "debian"

  def project do
    [
      app: :pippin_cowboy,
      version: "0.1.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      elixirc_paths: ["lib", if(@from_debian, do: "from_debian", else: "from_hex")],
      deps: if(@from_debian, do: [], else: deps()),
      releases: [pippin_cowboy: [include_executables_for: [:unix]]]
    ]
  end

  def application do
    [
      mod: {PippinCowboy.Application, []},
      extra_applications: [:logger, :inets] ++ if(@from_debian, do: applications(), else: [])
    ]
  end

  defp deps do
    [
      {:cowboy, "~> 2.16"},
      {:postgrex, "~> 0.21.0"},
      {:jason, "~> 1.2"}
    ]
  end

  # In place of deps: found through ERL_LIBS or in Erlang's own library. p1_pgsql does not name what
  # it needs to log in by SCRAM: the module scram of xmpp, and stringprep.
  defp applications, do: [:cowboy, :jsx, :stringprep, :xmpp, :p1_pgsql, :poolboy]
end
