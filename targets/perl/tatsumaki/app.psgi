use strict;
use warnings;
use utf8;
use AnyEvent;
use AnyEvent::HTTP ();
use Plack::Builder;
use Tatsumaki::Application;

# AnyEvent::HTTP asks a host four things at a time and keeps the rest waiting, unless told otherwise.
$AnyEvent::HTTP::MAX_PER_HOST = 100_000;

package Hello {
    use parent -norequire, 'Tatsumaki::Handler';

    sub get {
        my ($self) = @_;
        $self->response->content_type('text/plain; charset=utf-8');
        $self->write('Hello World!');
    }
}

package Hola {
    use parent -norequire, 'Tatsumaki::Handler';
    use Encode qw(decode_utf8);

    # The path holds the decoded octets; `write` encodes characters.
    sub get {
        my ($self, $name) = @_;
        $self->response->content_type('text/plain; charset=utf-8');
        $self->write('Hola ' . decode_utf8($name));
    }
}

package Page {
    use parent -norequire, 'Tatsumaki::Handler';

    sub get {
        my ($self, $n) = @_;
        my @items = map { { id => $_, name => "Item $_ <of> page $n & more", price => $_ * $n } } 1 .. 12;
        $self->render('page.html', { n => $n, items => \@items });
    }
}

package Proxy {
    use parent -norequire, 'Tatsumaki::Handler';
    use Tatsumaki::HTTPClient;
    __PACKAGE__->asynchronous(1);

    sub get {
        my ($self) = @_;
        Tatsumaki::HTTPClient->new->get("$ENV{UPSTREAM_URL}/slow", $self->async_cb(sub {
            my ($answer) = @_;
            Tatsumaki::Error::HTTP->throw(502) unless $answer->is_success;
            $self->response->content_type('text/plain; charset=utf-8');
            $self->finish($answer->content);
        }));
    }
}

package Device {
    use parent -norequire, 'Tatsumaki::Handler';
    __PACKAGE__->asynchronous(1);

    sub get {
        my ($self) = @_;
        AE::now_update; # a wait counts from now, not from when the loop last woke
        my $wait;
        $wait = AE::timer 0.095 + rand 0.010, 0, $self->async_cb(sub {
            undef $wait;
            $self->response->content_type('text/plain; charset=utf-8');
            $self->finish('x' x 1024);
        });
    }
}

my $app = Tatsumaki::Application->new([
    qr{^/$}               => 'Hello',
    qr{^/hola/([^/]+)$}   => 'Hola',
    qr{^/page/([0-9]+)$}  => 'Page',
    qr{^/api/proxy/$}     => 'Proxy',
    qr{^/device$}         => 'Device',
]);

builder {
    # Neither Tatsumaki nor its servers take the body off an answer to HEAD.
    enable 'Head';
    $app->psgi_app;
};
