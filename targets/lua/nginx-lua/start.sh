#!/bin/sh
# Writes the configuration for this address and becomes nginx in the foreground.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
mkdir -p "$run"
sed -e "s|@HOST@|$HOST|g" -e "s|@PORT@|$PORT|g" -e "s|@WORKERS@|${WORKERS:-1}|g" -e "s|@UPSTREAM@|${UPSTREAM_URL:-http://127.0.0.1:9}|g" \
    -e "s|@DIR@|$PWD|g" -e "s|@USER@|$(id -un)|g" nginx.conf.in > "$run/nginx.conf"
# Debian keeps it where the PATH of an ordinary user does not look.
PATH="$PATH:/usr/sbin"
exec nginx -e stderr -p "$PWD/$run" -c nginx.conf -g "daemon off;"
