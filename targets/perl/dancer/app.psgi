use Dancer;
use Dancer::Plugin::Database;

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
    return 'Hola ' . params->{name};
};

get qr{^/page/(?<n>\d+)$} => sub {
    my $n     = captures->{n};
    my @items = map { { id => $_, name => "Item $_ <of> page $n & more", price => $_ * $n } } 1 .. 12;
    return template 'page', { title => "Page $n", n => $n, items => \@items };
};

get '/api/users/' => sub {
    my $users = database($database)->selectall_arrayref(
        'SELECT id, name, email FROM users ORDER BY id', { Slice => {} });
    content_type 'application/json';
    # Sorted keys: Perl gives a hash's keys in a different order each time, and the same rows shall be the same bytes.
    return to_json($users, { canonical => 1, pretty => 0 });
};

# Perl compares code points.
get '/messages' => sub {
    my $rows = database($database)->selectall_arrayref('SELECT id, text FROM messages', { Slice => {} });
    my @messages = sort { $a->{text} cmp $b->{text} } @$rows, { id => 0, text => params->{add} };
    return template 'messages', { title => 'Messages', messages => \@messages };
};

dance;
