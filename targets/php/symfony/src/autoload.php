<?php

// Debian keeps the autoloader of each package beside its classes.
require 'Symfony/Bundle/FrameworkBundle/autoload.php';
require 'Symfony/Bundle/TwigBundle/autoload.php';
require 'Doctrine/DBAL/autoload.php';

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Pippin\\')) {
        require __DIR__ . '/' . substr($class, 7) . '.php';
    }
});
