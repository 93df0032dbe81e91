<?php

declare(strict_types=1);

use Pippin\Kernel;
use Symfony\Component\HttpFoundation\Request;

require __DIR__ . '/../src/autoload.php';

$kernel = new Kernel('prod', false);
$request = Request::createFromGlobals();
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
