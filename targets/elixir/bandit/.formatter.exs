[
  import_deps: [:plug],
  inputs: ["mix.exs", "{config,lib}/**/*.{ex,exs}"]
]
