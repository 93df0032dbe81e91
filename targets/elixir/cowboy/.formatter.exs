[inputs: ["mix.exs", "{config,lib,from_hex,from_debian}/**/*.{ex,exs}"]]
