package Catalogue::View::HTML;
use Moose;
use namespace::autoclean;

extends 'Catalyst::View::TT';

__PACKAGE__->config(
    INCLUDE_PATH => [Catalogue->path_to('root')],
    WRAPPER      => 'layout.tt',
    ENCODING     => 'UTF-8',
);

1;
