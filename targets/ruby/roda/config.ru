require_relative "app"

run Catalogue.freeze.app
