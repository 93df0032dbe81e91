package Catalogue::Model::Users;
use Moose;
use namespace::autoclean;
use DBI;

extends 'Catalyst::Model';

# Opened at the first query, after the server has forked: one connection a process.
has database => (
    is      => 'ro',
    lazy    => 1,
    default => sub { DBI->connect("dbi:Pg:$ENV{DATABASE_URL}", undef, undef, { RaiseError => 1, AutoCommit => 1 }) },
);

sub all {
    my ($self) = @_;
    return $self->database->selectall_arrayref('SELECT id, name, email FROM users ORDER BY id', { Slice => {} });
}

sub messages {
    my ($self) = @_;
    return $self->database->selectall_arrayref('SELECT id, text FROM messages', { Slice => {} });
}

__PACKAGE__->meta->make_immutable;
1;
