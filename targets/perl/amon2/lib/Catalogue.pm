package Catalogue;
use strict;
use warnings;
use utf8;
use parent qw(Amon2);
use DBI;

# One handle a process: opened at the first query, after the server has forked, and kept.
sub database {
    return DBI->connect_cached("dbi:Pg:$ENV{DATABASE_URL}", undef, undef, { RaiseError => 1, AutoCommit => 1 });
}

1;
