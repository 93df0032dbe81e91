# Replace this by the framework. What Perl itself has the means for is served so far.
use strict;
use warnings;
use Digest::SHA;
use JSON::PP;

my $json = JSON::PP->new->utf8;

# The variable is there where `json` is measured. Read before the server forks.
my $all_items;
if (my $path = $ENV{ITEMS_FILE}) {
    open my $file, '<:raw', $path or die "$path: $!";
    local $/;
    $all_items = $json->decode(<$file>);
}

# The first n items, each with its price times quantity times m.
sub items {
    my ($n, $m) = @_;
    my @items = map { { %$_, total => $_->{price} * $_->{quantity} * $m } } grep {defined} @$all_items[0 .. $n - 1];
    return $json->encode({ count => scalar @items, items => \@items });
}

# The length and the SHA-256 of a body.
sub digest {
    my ($body, $digest, $length) = (shift, Digest::SHA->new(256), 0);
    while ($body->read(my $piece, 65_536)) {
        $digest->add($piece);
        $length += length $piece;
    }
    return "$length " . $digest->hexdigest;
}

sub answer {
    my ($env, $type, $body) = @_;
    my $sent = $env->{REQUEST_METHOD} eq 'HEAD' ? [] : [$body];
    return [200, ['Content-Type' => $type, 'Content-Length' => length $body], $sent];
}

sub {
    my $env  = shift;
    my $path = $env->{PATH_INFO};
    if ($env->{REQUEST_METHOD} eq 'POST') {
        return answer($env, 'text/plain', digest($env->{'psgi.input'})) if $path eq '/upload';
    }
    elsif ($path eq '/') {
        return answer($env, 'text/plain', 'Hello World!');
    }
    elsif ($all_items && $path =~ m{^/json/(\d+)\z}) {
        my $n = $1;
        my ($m) = $env->{QUERY_STRING} =~ /(?:^|&)m=(\d+)/;
        return answer($env, 'application/json', items($n, $m // 1));
    }
    return [404, ['Content-Type' => 'text/plain', 'Content-Length' => 0], []];
};
