#!/bin/sh
# Writes the configurations for this address, starts PHP-FPM and nginx, and stops both.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
certificate=""
if [ -n "${TLS_CERTIFICATE:-}" ]; then
    certificate="ssl_certificate \"$TLS_CERTIFICATE\"; ssl_certificate_key \"$TLS_KEY\";"
fi
mkdir -p "$run"
for file in nginx.conf php-fpm.conf; do
    sed -e "s|@HOST@|$HOST|" -e "s|@PORT@|$PORT|" -e "s|@WORKERS@|${WORKERS:-1}|" -e "s|@USER@|$(id -un)|" \
        -e "s|@DIR@|$PWD|" -e "s|@LISTEN@|${LISTEN:+ $LISTEN}|" -e "s|@CERTIFICATE@|$certificate|" \
        "$file.in" > "$run/$file"
done
# Debian keeps both where the PATH of an ordinary user does not look, and PHP-FPM under the name of its version.
PATH="$PATH:/usr/sbin"
fpm=$(ls /usr/sbin/php-fpm* | tail -n 1)
# -R: PHP-FPM asks for it where the user is root.
"$fpm" -R -F -p "$PWD/$run" -y "$PWD/$run/php-fpm.conf" &
fpm_pid=$!
nginx -e stderr -p "$PWD/$run" -c nginx.conf &
nginx_pid=$!

stop() {
    kill -QUIT "$nginx_pid" "$fpm_pid" 2> /dev/null || true
}
trap stop TERM INT
# The signal ends the first wait of each.
wait "$nginx_pid" || true
wait "$nginx_pid" 2> /dev/null || true
stop
wait "$fpm_pid" || true
