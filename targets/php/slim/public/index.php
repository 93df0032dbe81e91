<?php

declare(strict_types=1);

use Slim\App;
use Slim\Http\Request;
use Slim\Http\Response;
use Twig\Environment;
use Twig\Loader\FilesystemLoader;

require 'Slim/autoload.php';
require 'Twig/autoload.php';

function catalogue(int $n): array
{
    $items = [];
    for ($id = 1; $id <= 12; $id++) {
        $items[] = ['id' => $id, 'name' => "Item $id <of> page $n & more", 'price' => $id * $n];
    }
    return ['title' => "Page $n", 'n' => $n, 'items' => $items];
}

$app = new App();
$twig = new Environment(new FilesystemLoader(__DIR__ . '/../templates'), ['cache' => __DIR__ . '/../cache']);

$plain = fn (Response $response, string $text) => $response
    ->withHeader('Content-Type', 'text/plain; charset=utf-8')
    ->write($text);

$app->get('/', fn (Request $request, Response $response) => $plain($response, 'Hello World!'));

$app->get('/hola/{name}', fn (Request $request, Response $response, array $arguments) => $plain(
    $response,
    'Hola ' . $arguments['name'],
));

$app->get('/page/{n:\d+}', fn (Request $request, Response $response, array $arguments) => $response->write(
    $twig->render('page.html', catalogue((int) $arguments['n'])),
));

// nginx hands a body over when it is there as a whole.
$app->post('/upload', function (Request $request, Response $response) use ($plain) {
    $body = $request->getBody();
    $digest = hash_init('sha256');
    $length = 0;
    while (!$body->eof()) {
        $piece = $body->read(65536);
        $length += strlen($piece);
        hash_update($digest, $piece);
    }
    return $plain($response, $length . ' ' . hash_final($digest));
});

// PHP keeps nothing from one request to the next, so that each reads the file.
if (getenv('ITEMS_FILE') !== false) {
    $app->get('/json/{n:\d+}', function (Request $request, Response $response, array $arguments) {
        $all = json_decode(file_get_contents(getenv('ITEMS_FILE')), true, 512, JSON_THROW_ON_ERROR);
        $m = (int) $request->getQueryParam('m');
        $items = array_map(
            fn (array $item) => $item + ['total' => $item['price'] * $item['quantity'] * $m],
            array_slice($all, 0, (int) $arguments['n']),
        );
        return $response->withJson(['count' => count($items), 'items' => $items]);
    });
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

if (getenv('DATABASE_URL') !== false) {
    $app->get('/api/users/', function (Request $request, Response $response) {
        $rows = database()->query('SELECT id, name, email FROM users ORDER BY id')->fetchAll(PDO::FETCH_ASSOC);
        return $response->withJson($rows);
    });

    (require __DIR__ . '/../src/products.php')($app);

    // PHP compares bytes.
    $app->get('/messages', function (Request $request, Response $response) use ($twig) {
        $messages = database()->query('SELECT id, text FROM messages')->fetchAll(PDO::FETCH_ASSOC);
        $messages[] = ['id' => 0, 'text' => $request->getQueryParam('add')];
        usort($messages, fn (array $a, array $b) => strcmp($a['text'], $b['text']));
        return $response->write($twig->render('messages.html', ['title' => 'Messages', 'messages' => $messages]));
    });
}

$app->run();
