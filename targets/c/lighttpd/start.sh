#!/bin/sh
# Writes the configuration for this address and becomes lighttpd in the foreground.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
mkdir -p "$run"
upstream="${UPSTREAM_URL:-http://127.0.0.1:9}"
upstream="${upstream#http://}"
# One process serves alone. With more, a process of its own only watches over them.
processes="${WORKERS:-1}"
[ "$processes" -gt 1 ] || processes=0
sed -e "s|@HOST@|$HOST|g" -e "s|@PORT@|$PORT|g" -e "s|@PROCESSES@|$processes|g" -e "s|@DIR@|$PWD|g" \
    -e "s|@STATIC_FOLDER@|${STATIC_FOLDER:-$PWD/$run/none}|g" \
    -e "s|@UPSTREAM_HOST@|${upstream%:*}|g" -e "s|@UPSTREAM_PORT@|${upstream##*:}|g" lighttpd.conf.in > "$run/lighttpd.conf"
# Debian keeps it where the PATH of an ordinary user does not look.
PATH="$PATH:/usr/sbin"
exec lighttpd -D -f "$run/lighttpd.conf"
