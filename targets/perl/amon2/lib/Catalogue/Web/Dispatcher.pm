package Catalogue::Web::Dispatcher;
use strict;
use warnings;
use utf8;
use Amon2::Web::Dispatcher::RouterBoom;

sub text {
    my ($c, $octets) = @_;
    return $c->create_response(
        200, [ 'Content-Type' => 'text/plain; charset=UTF-8', 'Content-Length' => length $octets ], [$octets]);
}

get '/' => sub {
    my ($c) = @_;
    return text($c, 'Hello World!');
};

# The router hands over the decoded octets of the path; they go out as they came.
get '/hola/:name' => sub {
    my ($c, $captured) = @_;
    return text($c, "Hola $captured->{name}");
};

get '/page/{n:[0-9]+}' => sub {
    my ($c, $captured) = @_;
    my $n     = $captured->{n};
    my @items = map { { id => $_, name => "Item $_ <of> page $n & more", price => $_ * $n } } 1 .. 12;
    return $c->render('page.tx', { n => $n, items => \@items });
};

get '/api/users/' => sub {
    my ($c) = @_;
    my $users = $c->database->selectall_arrayref(
        'SELECT id, name, email FROM users ORDER BY id', { Slice => {} });
    return $c->render_json($users);
};

# Perl compares code points.
get '/messages' => sub {
    my ($c) = @_;
    my $rows = $c->database->selectall_arrayref('SELECT id, text FROM messages', { Slice => {} });
    my @messages = sort { $a->{text} cmp $b->{text} } @$rows, { id => 0, text => scalar $c->req->param('add') };
    return $c->render('messages.tx', { messages => \@messages });
};

1;
