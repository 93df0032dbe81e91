<?php

declare(strict_types=1);

namespace Pippin;

use Doctrine\DBAL\Connection;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Response;
use Twig\Environment;

final class Controller
{
    public function hello(): Response
    {
        return $this->plain('Hello World!');
    }

    public function hola(string $name): Response
    {
        return $this->plain("Hola $name");
    }

    public function page(int $n, Environment $twig): Response
    {
        $items = [];
        for ($id = 1; $id <= 12; $id++) {
            $items[] = ['id' => $id, 'name' => "Item $id <of> page $n & more", 'price' => $id * $n];
        }
        return new Response($twig->render('page.html.twig', ['title' => "Page $n", 'n' => $n, 'items' => $items]));
    }

    public function users(Connection $database): Response
    {
        return new JsonResponse($database->fetchAllAssociative('SELECT id, name, email FROM users ORDER BY id'));
    }

    private function plain(string $text): Response
    {
        return new Response($text, 200, ['Content-Type' => 'text/plain; charset=utf-8']);
    }
}
