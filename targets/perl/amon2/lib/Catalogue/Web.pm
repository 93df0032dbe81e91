package Catalogue::Web;
use strict;
use warnings;
use utf8;
use parent qw(Catalogue Amon2::Web);
use Catalogue::Web::Dispatcher;
use File::Spec;
use Text::Xslate;

# Sorted keys: Perl gives a hash's keys in a different order each time, and the same rows shall be the same bytes.
__PACKAGE__->load_plugin('Web::JSON' => { canonical => 1 });

sub dispatch {
    my ($c) = @_;
    return Catalogue::Web::Dispatcher->dispatch($c);
}

{
    my $view;

    sub create_view {
        my ($class) = @_;
        return $view //= Text::Xslate->new(
            path      => [ File::Spec->catdir($class->base_dir, 'tmpl') ],
            cache_dir => File::Spec->catdir($class->base_dir, 'local', 'xslate'),
            syntax    => 'Kolon',
        );
    }
}

1;
