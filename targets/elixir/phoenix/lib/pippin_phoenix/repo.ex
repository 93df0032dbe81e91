defmodule PippinPhoenix.Repo do
  use Ecto.Repo,
    otp_app: :pippin_phoenix,
    adapter: Ecto.Adapters.Postgres
end
