<?php

// Products: listed, read, added, changed and removed.

declare(strict_types=1);

use Slim\App;
use Slim\Http\Request;
use Slim\Http\Response;

function isText(mixed $value): bool
{
    return is_string($value) && preg_match('/\A.{1,100}\z/us', $value) === 1;
}

/** Name, category and price of the body, or null where it is no product. */
function sentProduct(Request $request): ?array
{
    ['name' => $name, 'category' => $category, 'price' => $price] = ($request->getParsedBody() ?? []) + ['name' => null, 'category' => null, 'price' => null];
    $isProduct = isText($name) && isText($category) && is_int($price) && $price >= 0 && $price <= 1_000_000;
    return $isProduct ? [$name, $category, $price] : null;
}

function query(string $sql, array $values): array
{
    $statement = database()->prepare($sql);
    $statement->execute($values);
    return $statement->fetchAll(PDO::FETCH_ASSOC);
}

/** Answers with the row that the statement returns, or with what the database said. */
function withOne(Response $response, string $sql, array $values, int $status = 200): Response
{
    try {
        $row = query($sql, $values)[0] ?? null;
    } catch (PDOException $error) {
        return $error->getCode() === '23505' ? $response->withJson(['error' => 'the name is taken'], 409) : throw $error;
    }
    return match (true) {
        $row === null => $response->withStatus(404),
        $status === 204 => $response->withStatus(204),
        $status === 201 => $response->withHeader('Location', "/products/{$row['id']}")->withJson($row, 201),
        default => $response->withJson($row),
    };
}

return function (App $app): void {
    $app->get('/products', function (Request $request, Response $response) {
        $page = $request->getQueryParam('page', '1');
        $category = $request->getQueryParam('category');
        if (!is_string($page) || preg_match('/\A0*[1-9][0-9]{0,8}\z/', $page) !== 1) {
            return $response->withJson(['error' => 'page is a number of at least 1'], 422);
        }
        $where = $category === null ? '' : 'WHERE category = ?';
        $values = [...($category === null ? [] : [$category]), ((int) $page - 1) * 20];
        return $response->withJson(query("SELECT id, name, category, price FROM products $where ORDER BY id LIMIT 20 OFFSET ?", $values));
    });

    $app->post('/products', function (Request $request, Response $response) {
        $sent = sentProduct($request);
        if ($sent === null) {
            return $response->withJson(['error' => 'a product has a name, a category and a price'], 422);
        }
        $sql = 'INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price';
        return withOne($response, $sql, $sent, 201);
    });

    // Any other id matches no route. One of more than 32 bits is none of a product.
    $app->get('/products/{id:\d{1,18}}', fn (Request $request, Response $response, array $arguments) => withOne(
        $response,
        'SELECT id, name, category, price FROM products WHERE id = CAST(? AS bigint)',
        [$arguments['id']],
    ));

    $app->put('/products/{id:\d{1,18}}', function (Request $request, Response $response, array $arguments) {
        $sent = sentProduct($request);
        if ($sent === null) {
            return $response->withJson(['error' => 'a product has a name, a category and a price'], 422);
        }
        $sql = 'UPDATE products SET name = ?, category = ?, price = ? WHERE id = CAST(? AS bigint) RETURNING id, name, category, price';
        return withOne($response, $sql, [...$sent, $arguments['id']]);
    });

    $app->delete('/products/{id:\d{1,18}}', fn (Request $request, Response $response, array $arguments) => withOne(
        $response,
        'DELETE FROM products WHERE id = CAST(? AS bigint) RETURNING id',
        [$arguments['id']],
        204,
    ));
};
