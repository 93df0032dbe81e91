#!/bin/sh
# Writes the configuration for this address and becomes Apache in the foreground.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
mkdir -p "$run"
sed -e "s|@HOST@|$HOST|g" -e "s|@PORT@|$PORT|g" -e "s|@WORKERS@|${WORKERS:-1}|g" \
    -e "s|@STATIC_FOLDER@|${STATIC_FOLDER:-$PWD/$run/none}|g" \
    -e "s|@DIR@|$PWD|g" -e "s|@USER@|$(id -un)|g" httpd.conf.in > "$run/httpd.conf"
# Debian keeps it where the PATH of an ordinary user does not look.
PATH="$PATH:/usr/sbin"
exec apache2 -d "$PWD/$run" -f "$PWD/$run/httpd.conf" -D FOREGROUND
