#!/bin/sh
# Cowboy without hex.pm: Debian ships it, built, inside the package rabbitmq-server. Takes its applications and jsx out of
# the package into debian/lib; nothing of RabbitMQ is installed or started. Needs neither root nor the package's dependencies.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d ./download.XXXXXX)
trap 'rm -rf "$work"' EXIT

fetch() { (cd "$work" && apt-get -o APT::Sandbox::User=root "$@" download rabbitmq-server); }
if ! fetch; then
  # Lists and cache of its own: needs no root, and other uses of apt on this machine are neither waited for nor disturbed.
  echo "no package lists yet: reading them into $PWD/$work" >&2
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  set -- -o "Dir::State::lists=$PWD/$work/lists" -o "Dir::Cache=$PWD/$work/cache"
  apt-get "$@" update
  fetch "$@"
fi

dpkg -x "$work"/rabbitmq-server_*.deb "$work/root"
rm -rf lib
mkdir lib
for application in cowboy cowlib ranch jsx; do
  mv "$work"/root/usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins/$application-[0-9]* lib/
done

# p1_pgsql logs in with SCRAM by the applications xmpp and stringprep, and xmpp needs the other three.
# Debian's folders have other names than the applications, so Mix does not find them there.
erlang=$(erl -noinput -eval 'io:put_chars(code:lib_dir()), halt().')
for pair in xmpp:xmpp stringprep:stringprep zlib:ezlib tls:fast_tls xml:fast_xml; do
  for folder in "$erlang"/p1_"${pair%%:*}"-[0-9]*; do
    ln -s "$folder" "lib/${pair#*:}-${folder##*-}"
  done
done
ls lib
