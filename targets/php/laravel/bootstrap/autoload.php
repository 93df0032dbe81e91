<?php

// Debian keeps the autoloader of the whole framework beside its classes.
require 'Illuminate/autoload.php';

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'App\\')) {
        require __DIR__ . '/../app/' . strtr(substr($class, 4), '\\', '/') . '.php';
    }
});
