defmodule PippinPhoenixWeb.Layouts do
  use PippinPhoenixWeb, :html

  embed_templates "layouts/*"
end
