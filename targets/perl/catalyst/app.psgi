use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Catalogue;

Catalogue->apply_default_middlewares(Catalogue->psgi_app);
