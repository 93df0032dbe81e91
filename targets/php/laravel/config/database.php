<?php

return [
    'default' => 'pgsql',
    'connections' => [
        'pgsql' => [
            'driver' => 'pgsql',
            'url' => env('DATABASE_URL'),
            'charset' => 'utf8',
            'prefix' => '',
            // Each process keeps its connection between requests.
            'options' => [PDO::ATTR_PERSISTENT => true],
        ],
    ],
];
