defmodule PippinPhoenixWeb.CatalogueHTML do
  use PippinPhoenixWeb, :html

  embed_templates "catalogue_html/*"
end
