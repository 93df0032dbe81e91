package Catalogue::Controller::Root;
use Moose;
use namespace::autoclean;

BEGIN { extends 'Catalyst::Controller' }

__PACKAGE__->config(namespace => '');

sub index : Path : Args(0) {
    my ($self, $c) = @_;
    $self->plain($c, 'Hello World!');
}

sub hola : Path('hola') : Args(1) {
    my ($self, $c, $name) = @_;
    $self->plain($c, "Hola $name");
}

sub page : Path('page') : Args(1) {
    my ($self, $c, $n) = @_;
    return $c->detach('default') unless $n =~ /\A[0-9]+\z/;
    my @items = map { { id => $_, name => "Item $_ <of> page $n & more", price => $_ * $n } } 1 .. 12;
    $c->stash(template => 'page.tt', title => "Page $n", n => $n, items => \@items);
    $c->forward('View::HTML');
}

sub users : Path('api/users') : Args(0) {
    my ($self, $c) = @_;
    return $c->detach('default') unless $ENV{DATABASE_URL};
    $c->stash(users => $c->model('Users')->all);
    $c->forward('View::JSON');
}

# Perl compares code points.
sub messages : Path('messages') : Args(0) {
    my ($self, $c) = @_;
    return $c->detach('default') unless $ENV{DATABASE_URL};
    my $added = { id => 0, text => $c->request->query_parameters->{add} };
    my @messages = sort { $a->{text} cmp $b->{text} } @{ $c->model('Users')->messages }, $added;
    $c->stash(template => 'messages.tt', title => 'Messages', messages => \@messages);
    $c->forward('View::HTML');
}

sub default : Path {
    my ($self, $c) = @_;
    $self->plain($c, 'Not Found');
    $c->response->status(404);
}

sub plain : Private {
    my ($self, $c, $text) = @_;
    $c->response->content_type('text/plain; charset=utf-8');
    $c->response->body($text);
}

__PACKAGE__->meta->make_immutable;
1;
