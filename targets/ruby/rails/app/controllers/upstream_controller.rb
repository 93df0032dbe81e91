require "net/http"

class UpstreamController < ApplicationController
  SLOW = ENV["UPSTREAM_URL"] && URI("#{ENV["UPSTREAM_URL"]}/slow")

  def show
    render plain: Net::HTTP.get(SLOW)
  end
end
