require_relative "app"

run Catalogue
