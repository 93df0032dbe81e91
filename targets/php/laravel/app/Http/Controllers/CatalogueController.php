<?php

namespace App\Http\Controllers;

use Illuminate\Http\Response;
use Illuminate\Routing\Controller;
use Illuminate\View\View;

final class CatalogueController extends Controller
{
    public function hello(): Response
    {
        return $this->plain('Hello World!');
    }

    public function hola(string $name): Response
    {
        return $this->plain("Hola $name");
    }

    public function page(string $number): View
    {
        $n = (int) $number;
        $items = [];
        for ($id = 1; $id <= 12; $id++) {
            $items[] = ['id' => $id, 'name' => "Item $id <of> page $n & more", 'price' => $id * $n];
        }
        return view('page', ['n' => $n, 'items' => $items]);
    }

    private function plain(string $text): Response
    {
        return response($text)->header('Content-Type', 'text/plain; charset=utf-8');
    }
}
