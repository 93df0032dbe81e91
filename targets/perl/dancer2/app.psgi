use Dancer2;
use Dancer2::Plugin::Database;
use Plack::Builder ();

# One handle a process: the plugin opens it at the first query, after the server has forked, and keeps it.
my $database = {
    dsn => 'dbi:Pg:' . ($ENV{DATABASE_URL} // ''),
    dbi_params => { RaiseError => 1, AutoCommit => 1 },
};

# Read before the server forks.
my $all_items = [];
if (my $path = $ENV{ITEMS_FILE}) {
    open my $file, '<:raw', $path or die "$path: $!";
    local $/;
    $all_items = decode_json(<$file>);
}

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

get '/json/:n[Int]' => sub {
    my ($n, $m) = (route_parameters->get('n'), query_parameters->get('m'));
    my @items = map { { %$_, total => $_->{price} * $_->{quantity} * $m } } grep {defined} @$all_items[0 .. $n - 1];
    send_as JSON => { count => scalar @items, items => \@items };
};

get '/api/users/' => sub {
    my $users = database($database)->selectall_arrayref(
        'SELECT id, name, email FROM users ORDER BY id', { Slice => {} });
    send_as JSON => $users;
};

# Perl compares code points.
get '/messages' => sub {
    my $rows = database($database)->selectall_arrayref('SELECT id, text FROM messages', { Slice => {} });
    my @messages = sort { $a->{text} cmp $b->{text} } @$rows, { id => 0, text => query_parameters->get('add') };
    return template 'messages', { title => 'Messages', messages => \@messages };
};

# For clients that accept gzip, of this route alone.
my $app = to_app;
Plack::Builder::builder {
    Plack::Builder::enable_if { $_[0]{PATH_INFO} =~ m{^/json/} } 'Deflater',
        content_type => ['application/json'], vary_accept_encoding => 1;
    $app;
};
