<?php

declare(strict_types=1);

function plain(string $text): void
{
    header('Content-Type: text/plain; charset=utf-8');
    echo $text;
}

function notFound(): void
{
    http_response_code(404);
    plain('Not Found');
}

/** PHP is its own template engine; what comes from data goes through this, as its manual says. */
function e(string|int $value): string
{
    return htmlspecialchars((string) $value, ENT_QUOTES);
}

function catalogue(int $n): array
{
    $items = [];
    for ($id = 1; $id <= 12; $id++) {
        $items[] = ['id' => $id, 'name' => "Item $id <of> page $n & more", 'price' => $id * $n];
    }
    return ['title' => "Page $n", 'n' => $n, 'items' => $items];
}

function page(int $n): void
{
    extract(catalogue($n));
    $content = __DIR__ . '/templates/page.php';
    require __DIR__ . '/templates/layout.php';
}

function database(): PDO
{
    $url = parse_url(getenv('DATABASE_URL'));
    return new PDO(
        sprintf('pgsql:host=%s;port=%d;dbname=%s', $url['host'], $url['port'] ?? 5432, ltrim($url['path'], '/')),
        $url['user'] ?? null,
        $url['pass'] ?? null,
        [PDO::ATTR_PERSISTENT => true, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION],
    );
}

function users(): void
{
    $rows = database()->query('SELECT id, name, email FROM users ORDER BY id')->fetchAll(PDO::FETCH_ASSOC);
    header('Content-Type: application/json');
    echo json_encode($rows, JSON_THROW_ON_ERROR);
}

/** The rows and an added one, in the order of their texts: PHP compares bytes. */
function messages(string $added): void
{
    $messages = database()->query('SELECT id, text FROM messages')->fetchAll(PDO::FETCH_ASSOC);
    $messages[] = ['id' => 0, 'text' => $added];
    usort($messages, fn (array $a, array $b) => strcmp($a['text'], $b['text']));
    $title = 'Messages';
    $content = __DIR__ . '/templates/messages.php';
    require __DIR__ . '/templates/layout.php';
}

/** nginx hands a body over when it is there as a whole. */
function upload(): void
{
    $digest = hash_init('sha256');
    $length = hash_update_stream($digest, fopen('php://input', 'rb'));
    plain($length . ' ' . hash_final($digest));
}

/** PHP keeps nothing from one request to the next, so that each reads the file. */
function items(int $n, int $m): void
{
    $all = json_decode(file_get_contents(getenv('ITEMS_FILE')), true, 512, JSON_THROW_ON_ERROR);
    $items = array_map(
        fn (array $item) => $item + ['total' => $item['price'] * $item['quantity'] * $m],
        array_slice($all, 0, $n),
    );
    header('Content-Type: application/json');
    echo json_encode(['count' => count($items), 'items' => $items], JSON_THROW_ON_ERROR);
}
