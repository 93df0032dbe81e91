<?php
// Replace this by the framework, and PHP's development server by php-fpm. Only `hello` is served so far.
if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/') {
    http_response_code(404);
    return;
}
header('Content-Type: text/plain');
header('Content-Length: 12');
if ($_SERVER['REQUEST_METHOD'] !== 'HEAD') {
    echo 'Hello World!';
}
