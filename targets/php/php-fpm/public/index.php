<?php

declare(strict_types=1);

require __DIR__ . '/../handlers.php';

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
match (true) {
    $path === '/' => plain('Hello World!'),
    preg_match('~^/hola/([^/]+)$~D', $path, $found) === 1 => plain('Hola ' . rawurldecode($found[1])),
    preg_match('~^/page/(\d+)$~D', $path, $found) === 1 => page((int) $found[1]),
    preg_match('~^/json/(\d+)$~D', $path, $found) === 1 && getenv('ITEMS_FILE') !== false
        => items((int) $found[1], (int) ($_GET['m'] ?? 1)),
    $path === '/upload' && $_SERVER['REQUEST_METHOD'] === 'POST' => upload(),
    $path === '/api/users/' && getenv('DATABASE_URL') !== false => users(),
    $path === '/messages' && getenv('DATABASE_URL') !== false => messages($_GET['add'] ?? ''),
    default => notFound(),
};
