<?php

declare(strict_types=1);

namespace Pippin;

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Bundle\TwigBundle\TwigBundle;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Kernel as BaseKernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

use function Symfony\Component\DependencyInjection\Loader\Configurator\env;

/** Pippin's workloads on Symfony, with Twig and Doctrine DBAL. */
final class Kernel extends BaseKernel
{
    use MicroKernelTrait;

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new TwigBundle()];
    }

    public function getProjectDir(): string
    {
        return \dirname(__DIR__);
    }

    private function configureContainer(ContainerConfigurator $container): void
    {
        $container->extension('framework', [
            'secret' => 'nothing here is signed',
            'http_method_override' => false,
            'router' => ['utf8' => true],
        ]);
        $container->extension('twig', ['default_path' => '%kernel.project_dir%/templates']);
        $services = $container->services();
        $services->set(Controller::class)->autowire()->autoconfigure()->tag('controller.service_arguments');
        $services->set(ProductController::class)->autowire()->autoconfigure()->tag('controller.service_arguments');
        // Connected by the first query.
        $services->set(Connection::class)
            ->factory([DriverManager::class, 'getConnection'])
            ->args([['url' => env('DATABASE_URL'), 'persistent' => true]]);
        $container->parameters()->set('env(DATABASE_URL)', '');
    }

    private function configureRoutes(RoutingConfigurator $routes): void
    {
        $routes->add('hello', '/')->controller([Controller::class, 'hello']);
        $routes->add('hola', '/hola/{name}')->controller([Controller::class, 'hola']);
        $routes->add('page', '/page/{n}')->controller([Controller::class, 'page'])->requirements(['n' => '\d+']);
        $routes->add('users', '/api/users/')->controller([Controller::class, 'users']);
        $routes->add('messages', '/messages')->controller([Controller::class, 'messages']);
        $routes->add('products', '/products')->controller([ProductController::class, 'list'])->methods(['GET']);
        $routes->add('create', '/products')->controller([ProductController::class, 'create'])->methods(['POST']);
        // Any other id matches no route.
        foreach (['read' => 'GET', 'change' => 'PUT', 'remove' => 'DELETE'] as $name => $method) {
            $route = $routes->add($name, '/products/{id}')->controller([ProductController::class, $name]);
            $route->methods([$method])->requirements(['id' => '\d{1,18}']);
        }
    }
}
