defmodule PippinCowboy.Upstream do
  @moduledoc "The slow upstream at UPSTREAM_URL, asked with Erlang's own HTTP client."

  @timeout_ms 30_000

  @doc """
  Tells httpc to keep idle connections and never to queue a request behind another one: its defaults (2 sessions, each with up to
  5 requests waiting) would be a limit of its own on simultaneous calls.
  """
  def configure, do: :httpc.set_options(max_sessions: 100_000, max_keep_alive_length: 0)

  @doc "The body of `{UPSTREAM_URL}/slow`, or why there is none."
  def slow do
    url = System.fetch_env!("UPSTREAM_URL") <> "/slow"
    http_options = [timeout: @timeout_ms, connect_timeout: @timeout_ms]

    case :httpc.request(:get, {url, []}, http_options, body_format: :binary) do
      {:ok, {{_version, 200, _phrase}, _headers, body}} -> {:ok, body}
      {:ok, {{_version, status, _phrase}, _headers, _body}} -> {:error, "upstream: #{status}"}
      {:error, reason} -> {:error, "upstream: #{inspect(reason)}"}
    end
  end
end
