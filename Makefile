# Penstock. `make` alone lists what there is to do. Nothing here needs more than a Debian machine with Rust.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
export PATH := $(PATH):$(HOME)/.cargo/bin

# Where cargo builds.
BUILT    := $(or $(CARGO_TARGET_DIR),target)
PENSTOCK := $(BUILT)/release/penstock
# Where records go.
OUT      ?= out
C_FILES   = $(wildcard bpf/*.h bpf/*.c bpf/*/*.h bpf/*/*.c crates/linux/src/*.c)

.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help setup demo test verdicts bits validation build fmt lint doc fuzz bless clean

help: ## this list
	@echo 'make TARGET, where TARGET is one of'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do printf '%-11s %s\n' "$$name" "$$what"; done

demo: build ## figure 1 of "FAST TCP: From Theory to Experiments", with verdicts and a report
	@$(PENSTOCK) paper fast-tcp/fig1 --out $(OUT)

test: USEFUL += tshark iperf3
test: setup ## every test; those in the kernel need root, and say so where they do not run
	cargo test --workspace --locked --no-fail-fast

verdicts: build ## short runs of the papers' figures, against the verdicts on record
	@$(PENSTOCK) paper --short --out $(OUT)/short

# Scenarios with SACK, of which a packet in a hundred is lost, and for how long [s].
BITS = newreno-red-622=10 two-way-512=2 10000-flows=3
bits: build ## the optimised command against the one that tests use: the same bits
	cargo build --locked -p penstock-cli
	came_to() { "$$1" run "scenarios/$$2.toml" --json --out $(OUT)/bits --set "duration=\"$$3 s\"" --set 'warmup="1 s"' --set links.bottleneck.loss=0.01 | sed '/^  "engine": {/,/^  }/d'; }
	for each in $(BITS); do
		optimised=$$(came_to $(PENSTOCK) "$${each%=*}" "$${each#*=}")
		plain=$$(came_to $(BUILT)/debug/penstock "$${each%=*}" "$${each#*=}")
		[ -n "$$plain" ] && [ "$$optimised" = "$$plain" ] || { echo "$${each%=*}: builds differ" >&2; exit 1; }
		echo "$${each%=*}: the same bits"
	done

validation: build ## the same scenarios in ns-2 and ns-3, where installed: docs/validation; a quarter of an hour
	@worst=0
	for table in compare rules speed; do python3 bench/validation.py $$table $(OUT)/validation || worst=$$?; done
	exit $$worst

build: setup ## the command, optimised: target/release/penstock
	cargo build --release --locked -p penstock-cli

fmt: ## put Rust and C in shape
	cargo fmt --all
	clang-format -i --style=file $(C_FILES)

lint: WANTS += clang-format
lint: setup ## shape of Rust and C, and clippy
	cargo fmt --all --check
	clang-format --style=file --dry-run --Werror $(C_FILES)
	cargo clippy --workspace --all-targets --locked -- -D warnings

doc: setup ## the library's pages: target/doc
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked

# How long the reader is fuzzed [s].
FUZZ_SECONDS ?= 60
fuzz: setup ## the reader of scenarios against mutilated files, for FUZZ_SECONDS
	cargo run -q --release --locked -p penstock-scenario --example fuzz -- $(FUZZ_SECONDS) scenarios/*.toml papers/*/fig*.toml crates/scenario/examples/everything.toml

bless: setup ## accept golden pages, the printed pages of docs/ and vectors as they are now; look at the difference first
	PENSTOCK_BLESS=1 cargo test --locked -p penstock-report --test golden
	PENSTOCK_BLESS=1 cargo test --locked -p penstock-cli --test house the_page_of
	PENSTOCK_BLESS=1 cargo test --locked -p penstock-linux --test vectors

clean: ## what was built; records in out/ stay
	cargo clean

# What is missing is installed where this is root on Debian, and named otherwise. Without what is optional everything
# but some tests runs (those inside the kernel, and of captures); they then say what they lack.
setup: ## see to compilers and headers
	@needs='' wants='' $(if $(WANTS),extra='$(WANTS)',extra='')
	has_header() { printf "$$1" | cc -E -x c - >/dev/null 2>&1; }
	command -v cc >/dev/null || needs+=' build-essential'
	command -v pkg-config >/dev/null || needs+=' pkg-config'
	has_header '#include <libelf.h>\n' || needs+=' libelf-dev'
	has_header '#include <zlib.h>\n' || needs+=' zlib1g-dev'
	command -v clang >/dev/null || wants+=' clang'
	has_header '#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n' || wants+=' libbpf-dev linux-libc-dev'
	for tool in $(USEFUL); do command -v $$tool >/dev/null || wants+=" $$tool"; done
	for tool in $$extra; do command -v $$tool >/dev/null || needs+=" $$tool"; done
	install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$$@" </dev/null; }
	if [ -n "$$needs$$wants" ]; then
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
			echo "setup: installing$$needs$$wants"
			install $$needs $$wants || { apt-get update -q && install $$needs $$wants; } || {
				[ -z "$$needs" ] || { echo "setup: cannot install$$needs" >&2; exit 3; }
				echo "setup: without$$wants; the tests that use them will not run" >&2
			}
		else
			how() { if command -v apt-get >/dev/null; then echo "sudo apt-get install -y$$1"; else echo "what Debian calls$$1"; fi; }
			[ -z "$$wants" ] || echo "setup: some tests will not run without: $$(how "$$wants")" >&2
			[ -z "$$needs" ] || { echo "setup: missing; install it and try again: $$(how "$$needs")" >&2; exit 3; }
		fi
	fi
	if ! command -v cargo >/dev/null; then
		echo 'setup: Rust is missing: install rustup as https://rustup.rs says, and try again' >&2; exit 3
	fi
	wanted=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
	have=$$(rustc --version | cut -d' ' -f2)
	if [ "$$(printf '%s\n' "$$wanted" "$$have" | sort -V | head -n 1)" != "$$wanted" ]; then
		echo "setup: Rust $$have is older than $$wanted: type \`rustup update stable\`, or install rustup as https://rustup.rs says" >&2; exit 3
	fi
