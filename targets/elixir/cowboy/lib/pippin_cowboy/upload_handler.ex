defmodule PippinCowboy.UploadHandler do
  @moduledoc "The length and the SHA-256 of the body of `POST /upload`, digested as it comes."

  @behaviour :cowboy_handler

  @impl true
  def init(request, state) do
    case :cowboy_req.method(request) do
      "POST" -> {:ok, digest(request, :crypto.hash_init(:sha256), 0), state}
      _ -> {:ok, :cowboy_req.reply(405, request), state}
    end
  end

  defp digest(request, hash, length) do
    {rest, piece, request} = :cowboy_req.read_body(request)
    hash = :crypto.hash_update(hash, piece)
    length = length + byte_size(piece)

    case rest do
      :more -> digest(request, hash, length)
      :ok -> reply(request, "#{length} #{hash |> :crypto.hash_final() |> Base.encode16(case: :lower)}")
    end
  end

  defp reply(request, text) do
    :cowboy_req.reply(200, %{"content-type" => "text/plain; charset=utf-8"}, text, request)
  end
end
