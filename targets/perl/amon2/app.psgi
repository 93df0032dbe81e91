use strict;
use warnings;
use utf8;
use File::Basename qw(dirname);
use File::Spec;
use lib File::Spec->catdir(dirname(__FILE__), 'lib');
use Catalogue::Web;
use Plack::Builder;

builder {
    # Neither Amon2 nor Starman takes the body off an answer to HEAD.
    enable 'Head';
    Catalogue::Web->to_app;
};
