#!/bin/sh
# Writes the configuration for this address and becomes nginx in the foreground.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
certificate=""
if [ -n "${TLS_CERTIFICATE:-}" ]; then
    certificate="ssl_certificate \"$TLS_CERTIFICATE\"; ssl_certificate_key \"$TLS_KEY\";"
fi
mkdir -p "$run"
sed -e "s|@PLACE@|${SOCKET:+unix:}${SOCKET:-$HOST:$PORT}|" -e "s|@WORKERS@|${WORKERS:-1}|" \
    -e "s|@KEEPALIVE_REQUESTS@|${KEEPALIVE_REQUESTS:-1000}|" \
    -e "s|@STATIC_FOLDER@|${STATIC_FOLDER:-$PWD/$run/none}|" \
    -e "s|@LISTEN@|${LISTEN:+ $LISTEN}|" -e "s|@CERTIFICATE@|$certificate|" nginx.conf.in > "$run/nginx.conf"
# -e: before the configuration is read, nginx would log to a place that only root may write.
# Debian keeps nginx where the PATH of an ordinary user does not look.
PATH="$PATH:/usr/sbin"
exec nginx -e stderr -p "$PWD/$run" -c nginx.conf -g "daemon off;"
