# Products: listed, read, added, changed and removed.
package Products;
use Mojo::Base 'Mojolicious::Plugin', -signatures;
use Mojo::JSON qw(to_json);

# A number and a text look alike in Perl; as JSON they do not.
sub _is_text ($value) { defined $value && !ref $value && to_json($value) =~ /^"/ && length $value >= 1 && length $value <= 100 }
sub _is_price ($value) { defined $value && !ref $value && to_json($value) =~ /^\d{1,7}$/ && $value <= 1_000_000 }

# Name, category and price of the body, or nothing where it is no product; then 422 is answered.
sub _sent ($c) {
  my $body = $c->req->json;
  if (ref $body eq 'HASH' && _is_text($body->{name}) && _is_text($body->{category}) && _is_price($body->{price})) {
    return @$body{qw(name category price)};
  }
  $c->render(json => {error => 'a product has a name, a category and a price'}, status => 422);
  return;
}

# Answers with the row that the statement returns, or with what the database said.
sub _one ($c, $status, $sql, @values) {
  my $db  = $c->pg->db;
  my $row = eval { $db->query($sql, @values)->hash };
  if (my $error = $@) {
    die $error unless $db->dbh->state eq '23505';
    return $c->render(json => {error => 'the name is taken'}, status => 409);
  }
  return $c->render(json => {error => 'there is no such product'}, status => 404) unless $row;
  return $c->rendered(204) if $status == 204;
  $c->res->headers->location("/products/$row->{id}") if $status == 201;
  $c->render(json => $row, status => $status);
}

sub _list ($c) {
  my ($category, $page) = ($c->param('category'), $c->param('page') // 1);
  return $c->render(json => {error => 'page is a number of at least 1'}, status => 422) unless $page =~ /^0*[1-9][0-9]{0,8}\z/;
  my $where = defined $category ? 'WHERE category = ?' : '';
  my $sql   = "SELECT id, name, category, price FROM products $where ORDER BY id LIMIT 20 OFFSET ?";
  $c->render(json => $c->pg->db->query($sql, $category // (), ($page - 1) * 20)->hashes);
}

sub register ($self, $app, $config) {
  my $routes = $app->routes->any('/products');
  $routes->get('/' => \&_list);
  $routes->post('/' => sub ($c) {
    my @sent = _sent($c) or return;
    _one($c, 201, 'INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price', @sent);
  });

  # Any other id matches no route. One of more than 32 bits is none of a product.
  my $one = $routes->any('/:id' => [id => qr/[0-9]{1,18}/]);
  $one->get('/' => sub ($c) {
    _one($c, 200, 'SELECT id, name, category, price FROM products WHERE id = ?::bigint', $c->param('id'));
  });
  $one->put('/' => sub ($c) {
    my @sent = _sent($c) or return;
    my $sql  = 'UPDATE products SET name = ?, category = ?, price = ? WHERE id = ?::bigint RETURNING id, name, category, price';
    _one($c, 200, $sql, @sent, $c->param('id'));
  });
  $one->delete('/' => sub ($c) { _one($c, 204, 'DELETE FROM products WHERE id = ?::bigint RETURNING id', $c->param('id')) });
}

1;
