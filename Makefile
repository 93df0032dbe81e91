# Verbs for people; the logic lives in the program and in tests/all.
.PHONY: laws run test test-slow test-targets test-wire test-hostile test-explained fuzz check bench cost sense search soak warm alarms within dist

# Away from a terminal nobody can be asked, and `make run` itself says that targets are to be installed.
YES := $(shell test -t 0 || echo --yes)

# Exit code 3: the run went well, and a result is INVALID. The report says which.
run:
	cargo run --release -- run hello --quick --install $(YES) || test $$? = 3

test:
	tests/all

# The slow tests of the program, of which each commit runs a fortieth.
test-slow:
	cargo test -p pippin-cli --test program -- $$(grep -v '^#' tests/slow)

# All targets. Call it again to go on where it ended: what passed is not checked again.
test-targets:
	cargo build -p pippin-cli
	tests/targets all

# The engine's times beside a packet capture: needs root and a machine without other work. RELEASE=1 takes
# a release build, which is what users have; it builds for some minutes longer.
test-wire:
	PIPPIN_WIRE=1 cargo test $(if $(RELEASE),--release )-p pippin-engine --test wire

# Every hostile server, before crowds of connections too; and kill -9 at 100 instants of a run.
test-hostile:
	PIPPIN_HOSTILE=all cargo test -p pippin-engine --test hostile
	PIPPIN_KILLS=100 cargo test -p pippin-cli --test program kills

# Whether the reasons that Pippin gives are right, under every kind of load. RECORD=1 keeps the runs, which
# `make test` judges anew.
test-explained:
	PIPPIN_EXPLAINED=1 $(if $(RECORD),PIPPIN_RECORD=1 )cargo test -p pippin-cli --test program explained

# The laws of the engine's worker, 10,000 random loads and servers for each, in virtual time.
laws:
	PIPPIN_LAWS=1 cargo test -p pippin-engine --lib laws

# Bytes that nobody chose, for everything that reads bytes from elsewhere.
fuzz:
	cargo run -p pippin-fuzz -- --seconds 30

check:
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace --lib --bins

bench:
	cargo build --release
	cargo run --release -p pippin-bench

# What --samples and --digest cost the generator: for a machine without other work, about 6 minutes.
# COST := --before FILE compares this build with an older one of `pippin`, without options.
COST :=
cost:
	cargo build --release
	cargo run --release -p pippin-bench -- cost $(COST)

# Whether targets that differ in a known way are told apart, in 20 runs: for a machine without other work.
sense:
	cargo build --release
	cargo run --release -p pippin-bench -- sense

# Whether the capacity search finds servers of a known capacity, in 20 searches.
search:
	cargo build --release
	cargo run --release -p pippin-bench -- search

# Whether memory and descriptors stay as they are: LENGTH for each of three parts.
LENGTH := 30m
soak:
	cargo build --release
	cargo run --release -p pippin-bench -- soak --length $(LENGTH)

# Whether the first load of a fresh JVM or Node is that of a warm server, or says that it is not: for a
# machine without other work, about 75 minutes. HOW := --quick takes 4 minutes and is not to be quoted;
# HOW := "--minutes 20 --with FILE..." goes on with what earlier results have.
HOW :=
warm:
	cargo build --release
	cargo run --release -p pippin-bench -- warm $(HOW)

# How often `pippin ci` raises a false alarm on recorded noise, and how soon it finds a change: its table
# is in docs/ci.md. It takes some minutes, on any machine.
alarms:
	PIPPIN_ALARMS=1 cargo test -p pippin-stats --test integration alarms -- --nocapture

# How often the interval with which --within ends a run holds the truth: its table is in docs/methodology.md.
# It takes less than a minute, on any machine.
within:
	PIPPIN_WITHIN=1 cargo test -p pippin-stats --test integration within:: -- --nocapture

# What a release consists of, in target/dist; deploy/packages/check looks at it.
dist:
	deploy/packages/build
