#!/bin/sh
# Writes the configuration for this address and becomes HAProxy in the foreground.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
mkdir -p "$run"
upstream="${UPSTREAM_URL:-http://127.0.0.1:9}"
sed -e "s|@HOST@|$HOST|g" -e "s|@PORT@|$PORT|g" -e "s|@WORKERS@|${WORKERS:-1}|g" -e "s|@UPSTREAM@|${upstream#http://}|g" \
    -e "s|@DIR@|$PWD|g" -e "s|@USER@|$(id -un)|g" haproxy.cfg.in > "$run/haproxy.cfg"
# Debian keeps it where the PATH of an ordinary user does not look.
PATH="$PATH:/usr/sbin"
exec haproxy -db -f "$run/haproxy.cfg"
