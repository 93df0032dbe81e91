[inputs: ["mix.exs", "{config,lib}/**/*.{ex,exs}"]]
