use Dancer2;
use Dancer2::Plugin::Database;

# One handle a process: the plugin opens it at the first query, after the server has forked, and keeps it.
my $database = {
    dsn => 'dbi:Pg:' . ($ENV{DATABASE_URL} // ''),
    dbi_params => { RaiseError => 1, AutoCommit => 1 },
};

get '/' => sub {
    content_type 'text/plain';
    return 'Hello World!';
};

get '/hola/:name' => sub {
    content_type 'text/plain';
    return 'Hola ' . route_parameters->get('name');
};

get '/page/:n[Int]' => sub {
    my $n     = route_parameters->get('n');
    my @items = map { { id => $_, name => "Item $_ <of> page $n & more", price => $_ * $n } } 1 .. 12;
    return template 'page', { title => "Page $n", n => $n, items => \@items };
};

get '/api/users/' => sub {
    my $users = database($database)->selectall_arrayref(
        'SELECT id, name, email FROM users ORDER BY id', { Slice => {} });
    send_as JSON => $users;
};

to_app;
