defmodule Shop.Hello do
  def init(request, state) do
    answer = :cowboy_req.reply(200, %{"content-type" => "text/plain"}, "Hello World!", request)
    {:ok, answer, state}
  end
end
