#!/usr/bin/env perl
use Mojolicious::Lite -signatures;
use Digest::SHA;
use Mojo::File qw(curfile path);
use Mojo::JSON qw(decode_json);
use Mojo::Pg;
use lib curfile->sibling('lib')->to_string;

# Read before the server forks.
my $all_items = $ENV{ITEMS_FILE} ? decode_json(path($ENV{ITEMS_FILE})->slurp) : [];

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

# By default a request may have 16 MiB. Mojolicious counts the framing of chunks too, and what it reads at once twice.
app->max_request_size(21_000_000);

# What Mojolicious does not keep in memory is in a file by now.
post '/upload' => sub ($c) {
  my ($body, $digest, $length) = ($c->req->content->asset, Digest::SHA->new(256), 0);
  while (length(my $piece = $body->get_chunk($length))) {
    $digest->add($piece);
    $length += length $piece;
  }
  $c->render(text => "$length " . $digest->hexdigest, format => 'txt');
};

get '/json/<n:num>' => sub ($c) {
  my ($n, $m) = ($c->param('n'), $c->param('m'));
  my @items = map { {%$_, total => $_->{price} * $_->{quantity} * $m} } grep {defined} @$all_items[0 .. $n - 1];
  $c->render(json => {count => scalar @items, items => \@items});
};

get '/api/users/' => sub ($c) {
  my $users = $c->pg->db->query('SELECT id, name, email FROM users ORDER BY id')->hashes;
  $c->render(json => $users);
};

# Perl compares code points.
get '/messages' => sub ($c) {
  my $rows = $c->pg->db->query('SELECT id, text FROM messages')->hashes;
  my @messages = sort { $a->{text} cmp $b->{text} } @$rows, {id => 0, text => $c->param('add')};
  $c->render('messages', messages => \@messages);
};

plugin 'Products';

app->start;
