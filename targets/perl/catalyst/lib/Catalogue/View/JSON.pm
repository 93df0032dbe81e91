package Catalogue::View::JSON;
use Moose;
use namespace::autoclean;
use Cpanel::JSON::XS;

extends 'Catalyst::View::JSON';

# The stash holds more than the answer: only the users go out, as an array.
__PACKAGE__->config(expose_stash => 'users');

# Perl shuffles the keys of a hash for each process; `canonical` sorts them.
my $json = Cpanel::JSON::XS->new->utf8->canonical;

sub encode_json {
    my ($self, $c, $data) = @_;
    return $json->encode($data);
}

1;
