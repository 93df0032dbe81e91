#!/usr/bin/env perl
# The whole application is one handler on the transaction: no router, no controller, no hooks.
package Mini;
use Mojo::Base 'Mojolicious', -signatures;

sub handler ($self, $tx) {
  my ($req, $res) = ($tx->req, $tx->res);
  my $parts = $req->url->path->parts;
  $res->headers->content_type('text/plain;charset=UTF-8');

  if ($req->method !~ /^(?:GET|HEAD)$/) { $res->code(405)->body('Method Not Allowed') }
  elsif (@$parts == 0)                  { $res->code(200)->body('Hello World!') }
  elsif (@$parts == 2 && $parts->[0] eq 'hola') {
    utf8::encode(my $body = "Hola $parts->[1]");
    $res->code(200)->body($body);
  }
  else { $res->code(404)->body('Not Found') }

  $tx->resume;
}

package main;
Mini->new->start;
