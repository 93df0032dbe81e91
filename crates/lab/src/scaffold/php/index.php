<?php

// Replace this by the framework, and PHP's development server by php-fpm. What PHP itself has the means for is served so far.

/** PHP keeps nothing from one request to the next, so that each reads the file. */
function items(int $n, int $m): string
{
    $all = json_decode(file_get_contents(getenv('ITEMS_FILE')), true, 512, JSON_THROW_ON_ERROR);
    $items = array_map(
        fn (array $item) => $item + ['total' => $item['price'] * $item['quantity'] * $m],
        array_slice($all, 0, $n),
    );
    return json_encode(['count' => count($items), 'items' => $items], JSON_THROW_ON_ERROR);
}

/** The length and the SHA-256 of the body. */
function digest(): string
{
    $digest = hash_init('sha256');
    $length = hash_update_stream($digest, fopen('php://input', 'rb'));
    return $length . ' ' . hash_final($digest);
}

function answer(int $status, string $type, string $body): void
{
    http_response_code($status);
    header("Content-Type: $type");
    header('Content-Length: ' . strlen($body));
    if ($_SERVER['REQUEST_METHOD'] !== 'HEAD') {
        echo $body;
    }
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$isPost = $_SERVER['REQUEST_METHOD'] === 'POST';
match (true) {
    $isPost && $path === '/upload' => answer(200, 'text/plain', digest()),
    !$isPost && $path === '/' => answer(200, 'text/plain', 'Hello World!'),
    // The variable is there where `json` is measured.
    !$isPost && getenv('ITEMS_FILE') !== false && preg_match('~^/json/(\d+)$~D', $path, $found) === 1
        => answer(200, 'application/json', items((int) $found[1], (int) ($_GET['m'] ?? 1))),
    default => answer(404, 'text/plain', ''),
};
