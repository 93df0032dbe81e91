require "hanami"

# Pippin's workloads on Hanami, with its actions, hanami-view and hanami-db.
module Catalogue
  class App < Hanami::App
    # No line for each request: that would measure the disk.
    config.logger.level = :warn

    # The slice `members` asks the database for its table when it boots.
    config.slices = ENV["DATABASE_URL"] ? ["members"] : []
  end
end
