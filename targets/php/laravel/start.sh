#!/bin/sh
# Writes the configurations for this address, starts PHP-FPM and nginx, and stops both.
set -eu
cd "$(dirname "$0")"
run="run/$PORT"
mkdir -p "$run"
for file in nginx.conf php-fpm.conf; do
    sed -e "s|@HOST@|$HOST|" -e "s|@PORT@|$PORT|" -e "s|@WORKERS@|${WORKERS:-1}|" -e "s|@USER@|$(id -un)|" \
        -e "s|@DIR@|$PWD|" "$file.in" > "$run/$file"
done
# DATABASE_URL is known only now, so the configuration is cached for this start; the routes and views were at installation.
export APP_ENV=production APP_CONFIG_CACHE="$PWD/$run/config.php"
php artisan config:cache > "$run/config.log" || { cat "$run/config.log" >&2; exit 1; }
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
