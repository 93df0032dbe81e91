#!/usr/bin/env perl
use Mojolicious::Lite -signatures;
use Mojo::Pg;

# One handle a process, opened at the first query (after the server has forked), as Mojo::Pg's own guide does it.
helper pg => sub { state $pg = Mojo::Pg->new($ENV{DATABASE_URL}) };

get '/' => { text => 'Hello World!', format => 'txt' };

get '/hola/#name' => sub ($c) {
  $c->render(text => 'Hola ' . $c->param('name'), format => 'txt');
};

get '/page/<n:num>' => sub ($c) {
  my $n     = $c->param('n');
  my @items = map { {id => $_, name => "Item $_ <of> page $n & more", price => $_ * $n} } 1 .. 12;
  $c->render('page', n => $n, items => \@items);
};

get '/api/users/' => sub ($c) {
  my $users = $c->pg->db->query('SELECT id, name, email FROM users ORDER BY id')->hashes;
  $c->render(json => $users);
};

app->start;
