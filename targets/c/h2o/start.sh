#!/bin/sh
# Writes the configuration for this address and becomes H2O in the foreground.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
mkdir -p "$run"
sed -e "s|@HOST@|$HOST|g" -e "s|@PORT@|$PORT|g" -e "s|@WORKERS@|${WORKERS:-1}|g" \
    -e "s|@STATIC_FOLDER@|${STATIC_FOLDER:-$PWD/public}|" \
    -e "s|@DIR@|$PWD|g" -e "s|@USER@|$(id -un)|g" h2o.yaml.in > "$run/h2o.yaml"
# Debian keeps it where the PATH of an ordinary user does not look.
PATH="$PATH:/usr/sbin"
exec h2o -c "$run/h2o.yaml"
