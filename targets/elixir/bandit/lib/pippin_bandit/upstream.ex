defmodule PippinBandit.Upstream do
  @moduledoc "The slow upstream at UPSTREAM_URL."

  @timeout_ms 30_000

  @doc "The body of `{UPSTREAM_URL}/slow`, or why there is none."
  def slow do
    url = Application.fetch_env!(:pippin_bandit, :upstream_url) <> "/slow"
    options = [receive_timeout: @timeout_ms, pool_timeout: @timeout_ms]

    case :get |> Finch.build(url) |> Finch.request(PippinBandit.Finch, options) do
      {:ok, %Finch.Response{status: 200, body: body}} -> {:ok, body}
      {:ok, %Finch.Response{status: status}} -> {:error, "upstream: #{status}"}
      {:error, reason} -> {:error, "upstream: #{Exception.message(reason)}"}
    end
  end
end
