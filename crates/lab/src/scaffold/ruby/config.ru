# Replace this by the framework. Only `hello` is served so far.
run lambda { |env|
  next [404, { 'content-length' => '0' }, []] unless env['PATH_INFO'] == '/'

  body = env['REQUEST_METHOD'] == 'HEAD' ? [] : ['Hello World!']
  [200, { 'content-type' => 'text/plain', 'content-length' => '12' }, body]
}
