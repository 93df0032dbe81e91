<?php

use App\Http\Controllers\CatalogueController;
use App\Http\Controllers\MessageController;
use Illuminate\Support\Facades\Route;

Route::get('/', [CatalogueController::class, 'hello']);
Route::get('/hola/{name}', [CatalogueController::class, 'hola']);
Route::get('/page/{number}', [CatalogueController::class, 'page'])->where('number', '\d+');
Route::get('/messages', [MessageController::class, 'index']);
