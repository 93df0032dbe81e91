# Verbs for people; the logic lives in the program and in tests/all.
.PHONY: run test test-targets check bench

# Away from a terminal nobody can be asked, and `make run` itself says that targets are to be installed.
YES := $(shell test -t 0 || echo --yes)

run:
	cargo run --release -- run hello --quick --install $(YES)

test:
	tests/all

# All targets. Call it again to go on where it ended: what passed is not checked again.
test-targets:
	cargo build -p pippin-cli
	tests/targets all

check:
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace --lib --bins

bench:
	cargo build --release
	cargo run --release -p pippin-bench
