[
  import_deps: [:phoenix],
  inputs: ["mix.exs", "{config,lib}/**/*.{ex,exs}"]
]
