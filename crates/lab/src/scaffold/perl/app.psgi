# Replace this by the framework. Only `hello` is served so far.
use strict;
use warnings;

sub {
    my $env = shift;
    return [404, ['Content-Type' => 'text/plain', 'Content-Length' => 0], []] if $env->{PATH_INFO} ne '/';

    my $body = $env->{REQUEST_METHOD} eq 'HEAD' ? [] : ['Hello World!'];
    return [200, ['Content-Type' => 'text/plain', 'Content-Length' => 12], $body];
};
