<?php

declare(strict_types=1);

namespace Pippin;

use Doctrine\DBAL\Connection;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\Request;
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

    /** The rows and an added one, in the order of their texts: PHP compares bytes. */
    public function messages(Request $request, Connection $database, Environment $twig): Response
    {
        $messages = $database->fetchAllAssociative('SELECT id, text FROM messages');
        $messages[] = ['id' => 0, 'text' => $request->query->get('add')];
        usort($messages, fn (array $a, array $b) => strcmp($a['text'], $b['text']));
        return new Response($twig->render('messages.html.twig', ['title' => 'Messages', 'messages' => $messages]));
    }

    private function plain(string $text): Response
    {
        return new Response($text, 200, ['Content-Type' => 'text/plain; charset=utf-8']);
    }
}
