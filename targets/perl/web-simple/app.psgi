package Catalogue;
use Web::Simple;
use DBI;
use JSON::XS;
use Plack::Middleware::Head;

# Sorted keys: Perl gives a hash's keys in a different order each time, and the same rows shall be the same bytes.
my $json = JSON::XS->new->utf8->canonical;

sub text {
    my ($status, $octets) = @_;
    return [ $status, [ 'Content-Type' => 'text/plain; charset=utf-8', 'Content-Length' => length $octets ], [$octets] ];
}

# One handle a process: opened at the first query, after the server has forked, and kept.
sub database {
    return DBI->connect_cached("dbi:Pg:$ENV{DATABASE_URL}", undef, undef, { RaiseError => 1, AutoCommit => 1 });
}

sub users {
    my $rows = database()->selectall_arrayref('SELECT id, name, email FROM users ORDER BY id', { Slice => {} });
    my $octets = $json->encode($rows);
    return [ 200, [ 'Content-Type' => 'application/json', 'Content-Length' => length $octets ], [$octets] ];
}

sub dispatch_request {
    return (
        '(GET|HEAD) + /'           => sub { text(200, 'Hello World!') },
        # Web::Simple hands over the decoded octets of the path; they go out as they came.
        '(GET|HEAD) + /hola/*.*'    => sub { my ($self, $name) = @_; text(200, "Hola $name") },
        '(GET|HEAD) + /api/users/' => sub { users() },
        ''                         => sub { text(404, 'Not Found') },
    );
}

# Neither Web::Simple nor Starman takes the body off an answer to HEAD.
Plack::Middleware::Head->wrap(Catalogue->to_psgi_app);
