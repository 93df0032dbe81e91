package Catalogue;
use Moose;
use namespace::autoclean;
use Catalyst::Runtime 5.90;

extends 'Catalyst';

__PACKAGE__->config(
    name                                        => 'Catalogue',
    encoding                                    => 'UTF-8',
    disable_component_resolution_regex_fallback => 1,
    default_view                                => 'HTML',
);
# Only warnings and worse; no line a request.
__PACKAGE__->log(Catalyst::Log->new(qw(warn error fatal)));
__PACKAGE__->setup;

1;
