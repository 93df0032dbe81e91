module example.org/pippin/bench/sense

go 1.22
