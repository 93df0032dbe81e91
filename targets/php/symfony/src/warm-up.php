<?php

// Builds the container and compiles the templates, as `bin/console cache:warmup` does for production.

declare(strict_types=1);

use Pippin\Kernel;

require __DIR__ . '/autoload.php';

$kernel = new Kernel('prod', false);
$kernel->boot();
$kernel->getContainer()->get('cache_warmer')->warmUp($kernel->getCacheDir());
