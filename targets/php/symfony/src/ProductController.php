<?php

declare(strict_types=1);

namespace Pippin;

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\Exception\UniqueConstraintViolationException;
use Symfony\Component\HttpFoundation\Exception\JsonException;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;

/** Products: listed, read, added, changed and removed. */
final class ProductController
{
    public function __construct(private Connection $database)
    {
    }

    public function list(Request $request): Response
    {
        $page = $request->query->get('page', '1');
        $category = $request->query->get('category');
        if (preg_match('/\A0*[1-9][0-9]{0,8}\z/', $page) !== 1) {
            return new JsonResponse(['error' => 'page is a number of at least 1'], 422);
        }
        $where = $category === null ? '' : 'WHERE category = ?';
        $values = [...($category === null ? [] : [$category]), ((int) $page - 1) * 20];
        $sql = "SELECT id, name, category, price FROM products $where ORDER BY id LIMIT 20 OFFSET ?";
        return new JsonResponse($this->database->fetchAllAssociative($sql, $values));
    }

    public function read(string $id): Response
    {
        return $this->one('SELECT id, name, category, price FROM products WHERE id = CAST(? AS bigint)', [$id]);
    }

    public function create(Request $request): Response
    {
        $sql = 'INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price';
        return $this->withBody($request, fn (array $sent) => $this->one($sql, $sent, 201));
    }

    public function change(Request $request, string $id): Response
    {
        $sql = 'UPDATE products SET name = ?, category = ?, price = ? WHERE id = CAST(? AS bigint) RETURNING id, name, category, price';
        return $this->withBody($request, fn (array $sent) => $this->one($sql, [...$sent, $id]));
    }

    public function remove(string $id): Response
    {
        return $this->one('DELETE FROM products WHERE id = CAST(? AS bigint) RETURNING id', [$id], 204);
    }

    private static function isText(mixed $value): bool
    {
        return is_string($value) && preg_match('/\A.{1,100}\z/us', $value) === 1;
    }

    /** Hands on name, category and price of the body. */
    private function withBody(Request $request, callable $next): Response
    {
        try {
            $body = $request->toArray();
        } catch (JsonException) {
            $body = [];
        }
        [$name, $category, $price] = [$body['name'] ?? null, $body['category'] ?? null, $body['price'] ?? null];
        if (self::isText($name) && self::isText($category) && is_int($price) && $price >= 0 && $price <= 1_000_000) {
            return $next([$name, $category, $price]);
        }
        return new JsonResponse(['error' => 'a product has a name, a category and a price'], 422);
    }

    /** Answers with the row that the statement returns, or with what the database said. */
    private function one(string $sql, array $values, int $status = 200): Response
    {
        try {
            $row = $this->database->fetchAssociative($sql, $values);
        } catch (UniqueConstraintViolationException) {
            return new JsonResponse(['error' => 'the name is taken'], 409);
        }
        return match (true) {
            $row === false => new JsonResponse(['error' => 'there is no such product'], 404),
            $status === 204 => new Response(status: 204),
            $status === 201 => new JsonResponse($row, 201, ['Location' => "/products/{$row['id']}"]),
            default => new JsonResponse($row),
        };
    }
}
