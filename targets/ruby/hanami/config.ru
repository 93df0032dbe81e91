require "hanami/boot"

run Hanami.app
