<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>@yield('title') - Catalogue</title>
  <link rel="stylesheet" href="/assets/app.css">
</head>
<body>
  <header>
    <nav>
      <a href="/">Home</a>
      <a href="/about">About</a>
      <a href="/help">Help</a>
    </nav>
  </header>
  <main>
@yield('content')
  </main>
  <footer>
    <p>Rendered by the framework's own template engine, with a layout around it, a loop over twelve items, and escaping of what comes from data.</p>
  </footer>
</body>
</html>
