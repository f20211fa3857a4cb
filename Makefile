# Penstock. `make` alone lists what there is to do. Nothing here needs more than a Debian machine with Rust.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
export PATH := $(PATH):$(HOME)/.cargo/bin

# Where cargo builds.
BUILT    := $(or $(CARGO_TARGET_DIR),target)
# The command that figures are run with: optimised, or as the tests have it, which takes no second build.
PROFILE  ?= release
PENSTOCK := $(BUILT)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/penstock
# What of web/ the command has: its reports have the viewer, and it serves the playground.
WEB      ?= $(if $(filter dev,$(PROFILE)),viewer,web)
# Where records go.
OUT      ?= out
C_FILES   = $(wildcard bpf/*.h bpf/*.c bpf/*/*.h bpf/*/*.c crates/kernel/src/*.c examples/own-law/bpf/*.c crates/cli/tests/own_kernel/*.c)
# Makes below cargo have an INSTALL of their own, the program that copies files: that of this one stays out of their arguments.
MAKEOVERRIDES := $(filter-out INSTALL=%,$(MAKEOVERRIDES))

.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help setup viewer web web-test web-measure screenshots gallery demo test verdicts bits own-law packages wheel wheel-test test-python surface site validation evaluation dist build pgo fmt lint doc deny fuzz nightly bless clean

help: ## this list
	@echo 'make TARGET, where TARGET is one of'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do printf '%-11s %s\n' "$$name" "$$what"; done

# The viewer of reports needs node and npm. Without them reports have drawings only, and say nothing wrong.
NPM = npm --silent --no-audit --no-fund --no-update-notifier
export PUPPETEER_SKIP_DOWNLOAD = 1
viewer: ## the viewer of reports, by node and npm: target/web/viewer.js
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
		echo 'viewer: not built: node and npm are missing; reports have drawings without zoom' >&2; exit 0
	fi
	cd web
	if [ package-lock.json -nt node_modules/.package-lock.json ]; then
		$(NPM) ci || { echo 'viewer: not built: its libraries are neither here nor at the registry of npm' >&2; exit 0; }
	fi
	$(NPM) run build

# The playground is the core as a WebAssembly module, with the viewer around it. `make build` puts it into the command, unless that
# is built for tests.
WASM = wasm32-unknown-unknown
web: viewer ## the viewer and the playground, a folder that any server can serve: target/web/dist
	@if [ ! -d web/node_modules ]; then exit 0; fi
	if [ ! -d "$$(rustc --print target-libdir --target $(WASM) 2>/dev/null)" ]; then
		echo 'web: no playground: its target is missing; install it by `rustup target add $(WASM)` and try again' >&2; exit 0
	fi
	cargo build -q --locked --profile wasm --target $(WASM) -p penstock-web --lib
	cd web
	$(NPM) run build -- play '$(abspath $(BUILT))/$(WASM)/wasm/penstock_web.wasm'

web-test: USEFUL += chromium firefox-esr
web-test: build ## viewer and playground in Chromium and Firefox: every interaction, both themes, three widths
	@if [ ! -d web/node_modules ]; then echo 'web-test: not run: node and npm are missing' >&2; exit 0; fi
	cd web
	$(NPM) run check
	$(NPM) run test
	PENSTOCK=$(abspath $(PENSTOCK)) $(NPM) run test:browser

web-measure: USEFUL += chromium firefox-esr
web-measure: build ## sizes and times of reports, papers and playground against their targets, by Chromium; a quarter of an hour
	@if [ ! -d web/node_modules ]; then echo 'web-measure: not run: node and npm are missing' >&2; exit 0; fi
	PENSTOCK=$(abspath $(PENSTOCK)) node web/measure.mjs $(MEASURE)

screenshots: build ## pictures of report, comparison, paper, atlas and playground, by Chromium: docs/images; some minutes
	@if [ ! -d web/node_modules ]; then echo 'screenshots: not made: node and npm are missing' >&2; exit 0; fi
	PENSTOCK=$(abspath $(PENSTOCK)) node web/screenshots.mjs

gallery: build ## the pictures of docs/gallery.md, from reports of the scenarios: docs/images
	@python3 bench/gallery.py $(PENSTOCK)

# Without the playground, whose build takes minutes: `make build` adds it.
demo: WEB = viewer
demo: build ## figure 1 of "FAST TCP: From Theory to Experiments", with verdicts and a report
	@$(PENSTOCK) paper fast-tcp/fig1 --out $(OUT)

# Tests that mostly wait for real packets, and are right beside a busy processor: they run while the others compute. Those of
# the second list register controllers with the kernel and compare what it lists: never two of them at a time.
WAITING  = capture iperf3 kernel tshark
REGISTER = attach controllers endurance left marks
# Tests that measure real time, or need both processors: nothing runs beside them.
MEASURES = linux own_kernel path tc
EVERY    = $(sort $(basename $(notdir $(wildcard crates/*/tests/*.rs))) $(notdir $(patsubst %/main.rs,%,$(wildcard crates/*/tests/*/main.rs))))
# The library of Python has tests of its own, and `--lib` would compile it for nothing.
WORKSPACE = --workspace --exclude penstock-python
TESTS     = cargo test $(WORKSPACE) --locked --no-fail-fast
test: USEFUL += tshark iperf3 strace
test: setup viewer ## every test of seconds; those in the kernel need root, and say so where they do not run
	$(TESTS) --no-run
	status=0
	$(MAKE) -s -k -j3 test-waiting test-register test-computing || status=1
	$(MAKE) -s test-measuring || status=1
	exit $$status

.PHONY: test-build test-waiting test-register test-computing test-measuring
# Benchmarks, and what compares interfaces, are built where they are looked at.
test-build:
	$(TESTS) --no-run
	$(if $(UNITS),$(TESTS) --no-run --benches && cargo build -q $(WORKSPACE) --locked --bin penstock-surface)
# What measures leaves the processors idle most of the time. The tests of Python and of documentation have that time and no other, until
# nothing is measured any more: on a busy machine there is none. A group of processes of their own can be told so, and ends with this one.
test-measuring:
	mkdir -p $(OUT); status=0; set -m
	(
		! command -v chrt >/dev/null || chrt --idle --pid 0 $$BASHPID || true
		$(MAKE) -s test-python || status=1
		$(TESTS) --doc || status=1
		exit $$status
	) >$(OUT)/test-beside.log 2>&1 & beside=$$!
	set +m; trap 'kill -- -$$beside 2>/dev/null || true' EXIT
	$(TESTS) $(MEASURES:%=--test %) || status=1
	for _ in 1 2; do pgrep -g $$beside | xargs -rn1 chrt --all-tasks --other --pid 0 2>/dev/null || true; done
	wait $$beside || status=1
	cat $(OUT)/test-beside.log; exit $$status
test-waiting: BESIDE = $(WAITING)
test-register: BESIDE = $(REGISTER)
test-waiting test-register:
	mkdir -p $(OUT); status=0
	$(TESTS) $(BESIDE:%=--test %) >$(OUT)/$@.log 2>&1 || status=1
	cat $(OUT)/$@.log; exit $$status
test-computing:
	$(TESTS) --lib --bins $(patsubst %,--test %,$(filter-out $(WAITING) $(REGISTER) $(MEASURES),$(EVERY)))

verdicts: build ## short runs of the papers' figures, against the verdicts on record
	@$(PENSTOCK) paper --short --out $(OUT)/short

# Scenarios with SACK, of which a packet in a hundred is lost, and for how long [s].
BITS = newreno-red-622=10 two-way-512=2 10000-flows=3
bits: build ## the optimised command against the one that tests use: the same bits
	# With the features of the tests, so that they build nothing again.
	cargo test --locked $(WORKSPACE) --no-run --test suite
	came_to() { "$$1" run "scenarios/$$2.toml" --json --out $(OUT)/bits --set "duration=\"$$3 s\"" --set 'warmup="1 s"' --set links.bottleneck.loss=0.01 | sed '/^      "cost": {/,/^      }/d; /^      "re[a-z]*": "/d'; }
	for each in $(BITS); do
		optimised=$$(came_to $(BUILT)/release/penstock "$${each%=*}" "$${each#*=}")
		plain=$$(came_to $(BUILT)/debug/penstock "$${each%=*}" "$${each#*=}")
		[ -n "$$plain" ] && [ "$$optimised" = "$$plain" ] || { echo "$${each%=*}: builds differ" >&2; exit 1; }
		echo "$${each%=*}: the same bits"
	done

# The crates as they would be published, in the order in which they need each other.
PACKAGES = law scenario record link machine packets quinn fluid papers report evaluation search path kernel-build kernel linux cli
PACKED   = $(BUILT)/package
packages: setup ## the crates as they would be published: target/package
	package() { cargo package --locked --allow-dirty --no-verify --quiet $(PACKAGES:%=-p penstock-%) "$$@"; }
	# What was downloaded for the workspace is enough, and no registry has to be asked.
	package --offline 2>/dev/null || package
	cd $(PACKED) && for each in $(PACKAGES); do rm -rf "penstock-$$each-"[0-9]*/ && tar -xzmf "penstock-$$each-"[0-9]*.crate; done

# Somebody else's program: it knows the packaged crates and nothing of this repository. It is built with the versions of this
# workspace, and other crates with its profile, so that these are built once. Its scenarios are short, so the packaged crates
# are not optimised.
OWN_LAW = $(abspath $(BUILT))/debug/own-law
# With the features that these have in the tests of the workspace, nothing of other people's is compiled again.
SAME_FEATURES = '[dependencies.nix]' 'version = "0.31"' 'features = ["term"]' '[dependencies.num-bigint]' 'version = "0.5"' \
	'default-features = false' 'features = ["std"]' \
	'[dependencies.rustix]' 'version = "1"' 'features = ["fs"]' '[dependencies.serde_json]' 'version = "1"' 'features = ["unbounded_depth"]' \
	'[dependencies.tokio]' 'version = "1"' 'features = ["fs", "io-util"]' \
	'[build-dependencies.syn]' 'version = "3"' 'features = ["extra-traits", "visit-mut"]'
own-law: packages ## examples/own-law from packaged crates: its test, its laws, a run, an analysis and its kernel programs
	mkdir -p $(OUT)/own-law && cp -r examples/own-law/. $(OUT)/own-law/ && cp Cargo.lock $(OUT)/own-law/
	printf '%s\n' '' $(SAME_FEATURES) >>$(OUT)/own-law/Cargo.toml
	export CARGO_TARGET_DIR="$(abspath $(BUILT))"
	flags=()
	for each in $(PACKAGES); do flags+=(--config "patch.crates-io.penstock-$$each.path='$$(ls -d $(abspath $(PACKED))/penstock-$$each-[0-9]*/)'"); done
	for profile in $$(sed -n '/^\[profile.dev.package\]/,/^\[/{/^penstock/!s/^\([a-z0-9_-]*\)\.opt-level = \(.*\)/\1=\2/p}' Cargo.toml); do
		flags+=(--config "profile.dev.package.$${profile%=*}.opt-level=$${profile#*=}")
	done
	flags+=(--config profile.dev.debug=false --config 'profile.dev.package."*".codegen-units=1')
	cd $(OUT)/own-law
	if cargo metadata --offline --format-version 1 "$${flags[@]}" >/dev/null 2>&1; then flags+=(--offline); fi
	cargo test "$${flags[@]}"
	cargo build "$${flags[@]}"
	for each in steady gauge linear; do $(OWN_LAW) laws $$each; done
	$(OWN_LAW) check against-cubic.toml
	for each in steady gauge; do $(OWN_LAW) run $$each.toml --out ran; done
	for each in steady newreno-linear; do
		$(OWN_LAW) check $$each.toml
		$(OWN_LAW) analyze $$each.toml --plain
		$(OWN_LAW) compare $$each.toml --plain --out compared
	done
	# Its kernel programs against the laws in Rust, where this machine runs programs in the kernel.
	can=$$($(OWN_LAW) linux check 2>&1 || true)
	if grep -q 'linux replay.*: yes' <<<"$$can"; then
		$(OWN_LAW) linux replay
	else
		echo "own-law: no replay in the kernel: $$can"; [[ "$${PENSTOCK_REQUIRE:-}" != *kernel* ]]
	fi

# Packages into an environment of Python: by uv, which takes a tenth of pip's time, or by pip where uv finds no registry.
UV   = uv==0.13.9
into = { $(1)/bin/pip install -q --no-compile $(UV) && VIRTUAL_ENV=$(1) $(1)/bin/uv pip install -q --native-tls $(2) || $(1)/bin/pip install -q --no-compile $(2); }

# What builds the Python package, and what its tests use besides; kept from run to run.
PYTHON_TOOLS = maturin==1.16.0 pytest==9.2.0 pytest-timeout==2.4.0 pytest-xdist==3.8.0 mypy==2.4.1 ruff==0.17.6 pyarrow==26.0.1 polars==2.1.0 pandas==3.1.1 duckdb==2.0.0 numpy==2.4.6 control==0.10.2 tqdm==4.70.1 distributed==2026.8.0 gymnasium==1.4.0 nbclient==0.11.0 nbformat==5.11.1 ipykernel==7.4.0 matplotlib==3.11.2
PYTHON       = $(abspath $(BUILT))/python-env
.PHONY: python-tools
python-tools: setup
	[ "$$(cat $(PYTHON)/tools 2>/dev/null)" = '$(PYTHON_TOOLS)' ] || {
		rm -rf $(PYTHON)
		python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv $(PYTHON) && $(call into,$(PYTHON),$(PYTHON_TOOLS)) && echo '$(PYTHON_TOOLS)' >$(PYTHON)/tools
	} || { rm -rf $(PYTHON); echo 'python: not built: it needs python3 of 3.11 or later with venv, and PyPI' >&2; exit 3; }

wheel: viewer python-tools ## the Python package, optimised: target/wheels
	$(PYTHON)/bin/maturin build -q --release --locked -m python/Cargo.toml --out $(BUILT)/wheels
	ls $(BUILT)/wheels

# Runs are compared with the optimised command.
wheel-test: build wheel ## the optimised wheel: its size, fresh environments, cost, speed, Dask; docs/validation/python.md; an hour
	python3 bench/python.py $(OUT)/python

# The wheel of the tests is built with their profile, so that it builds little again.
test-python: ## the Python package: its tests, from a wheel in an environment of its own
	if ! $(MAKE) -s python-tools; then echo 'test-python: not run'; [[ "$${PENSTOCK_REQUIRE:-}" != *python* ]]; exit; fi
	rm -rf $(BUILT)/wheels-debug
	$(PYTHON)/bin/maturin build -q --profile dev --locked -m python/Cargo.toml --out $(BUILT)/wheels-debug
	$(PYTHON)/bin/pip install -q --no-compile --no-deps --no-index --force-reinstall $(BUILT)/wheels-debug/*.whl
	PYTHONPYCACHEPREFIX="$(abspath $(BUILT))/pycache" $(PYTHON)/bin/python -m pytest -p no:cacheprovider -c python/pyproject.toml --rootdir python --numprocesses 2 --dist worksteal $(PYTEST) python/tests

# What the pages of the site are made with; kept from run to run.
SITE_TOOLS = mkdocs==1.6.1 mkdocs-material==9.6.14
site: ## the pages of docs/ and papers/ as a site, links checked: target/site
	tools=$(BUILT)/site-tools
	[ -x "$$tools/bin/mkdocs" ] || { python3 -m venv "$$tools" && $(call into,"$$tools",$(SITE_TOOLS)); } || {
		rm -rf "$$tools"; echo 'site: not built: it needs python3 with venv, and PyPI' >&2; [ -z "$${CI:-}" ] || exit 0; exit 3; }
	rm -rf target/site-pages target/site && mkdir -p target/site-pages
	tar -cf - README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md CITATION.cff THIRD-PARTY.md docs papers python/notebooks failures vectors/README.md vectors/quic/README.md search/known/README.md scenarios examples bpf/LICENSE-* | tar -xf - -C target/site-pages
	# The page of the API, which the navigation has: what `make doc` built, or that it was not.
	mkdir target/site-pages/api
	[ -d $(BUILT)/doc ] || echo 'site: no pages of the API: type `make doc`, then `make site` again' >&2
	{
		echo '<!doctype html><html lang="en"><meta charset="utf-8"><title>Penstock: API</title><h1>API of the crates</h1><ul>'
		for each in $(PACKAGES); do
			page="penstock_$${each//-/_}/index.html"
			[ ! -f "$(BUILT)/doc/$$page" ] || echo "<li><a href=\"$$page\">penstock-$$each</a></li>"
		done
		echo '</ul>'
		[ -d $(BUILT)/doc ] || echo '<p>This site was built without them: <code>make doc</code> builds them, and <code>make site</code> adds them.</p>'
	} >target/site-pages/api/index.html
	"$$tools/bin/mkdocs" build 2>&1 | sed "/^INFO/d"
	if [ -d $(BUILT)/doc ]; then cp -rn $(BUILT)/doc/. target/site/api; [ -f target/site/api/penstock_law/index.html ]; fi

validation: build ## the same scenarios in ns-2 and ns-3, where installed: docs/validation; a quarter of an hour
	@worst=0
	for table in compare rules speed; do python3 bench/validation.py $$table $(OUT)/validation || worst=$$?; done
	exit $$worst

evaluation: build ## every law on record by every criterion: evaluation/recorded and docs/validation/evaluation.md; half an hour
	@python3 bench/evaluation.py $(PENSTOCK) $(OUT)/evaluation

dist: WANTS += autoconf automake autopoint flex bison gawk
dist: setup web ## what is given away, tried in an empty root: a static command, a Debian package, an image; out/dist; half an hour
	dist/build $(BUILT) $(OUT)/dist

build: setup ## the command, optimised: target/release/penstock
	$(MAKE) -s $(WEB)
	$(if $(filter dev,$(PROFILE)),cargo test $(WORKSPACE) --locked --no-run --test suite,cargo build --profile $(PROFILE) --locked -p penstock-cli)

# Where a function's name is not that of the profile, the compiler has nothing to go by, and says nothing.
pgo: setup ## the command by profile-guided optimisation: target/pgo/penstock; two builds and some runs, half an hour
	host=$$(rustc -vV | sed -n 's/^host: //p')
	profile=$$(dist/profile "$$host" release $(BUILT))
	RUSTFLAGS="-C profile-use=$$profile" cargo rustc --locked --release --target "$$host" --target-dir $(BUILT)/pgo/guided -p penstock-cli --bin penstock
	cp "$(BUILT)/pgo/guided/$$host/release/penstock" $(BUILT)/pgo/

fmt: ## put Rust and C in shape
	cargo fmt --all
	cargo fmt --manifest-path examples/own-law/Cargo.toml
	if [ -x $(PYTHON)/bin/ruff ]; then $(PYTHON)/bin/ruff format --no-cache -q python; fi
	clang-format -i --style=file $(C_FILES)

# Lints that are errors. UNITS is a folder in which a build has written down its compilations: bench/units.py then has no dependency
# to check again. `make units` looks at what was compiled after `make lint` and `make surface`.
LINTS = warnings
lint: WANTS += clang-format
lint: setup ## shape of Rust and C, clippy, and how long the sentences of the pages are
	cargo fmt --all --check
	cargo fmt --manifest-path examples/own-law/Cargo.toml --check
	clang-format --style=file --dry-run --Werror $(C_FILES)
	$(if $(UNITS),python3 bench/units.py $(UNITS) lint,cargo clippy --workspace --all-targets --locked -- -D $(LINTS))
	if [ -d web/node_modules ]; then (cd web && $(NPM) run check); else echo 'lint: web/ not looked at: make web installs its tools' >&2; fi
	python3 bench/readability.py

doc: setup ## the library's pages: target/doc
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked

# Pages as JSON are an option of rustdoc that is not stable yet. They have a directory of their own, since rustdoc removes a
# crate's other pages. rustdoc needs every crate checked. After `make lint` all are: cargo takes them if it has clippy's compiler and
# arguments, and the features of the tests, which examples have too.
surface: setup ## the documentation of every crate without a warning, and its public interface as in public-api.txt
	export CARGO_BUILD_BUILD_DIR='$(abspath $(BUILT))'
	if [ -n '$(UNITS)' ]; then python3 bench/units.py '$(UNITS)' doc $(BUILT)/surface/doc; else (
		driver="$$(rustc --print sysroot)/bin/clippy-driver"
		[ ! -x "$$driver" ] || export RUSTC_WORKSPACE_WRAPPER="$$driver" CLIPPY_ARGS='-D__CLIPPY_HACKERY__$(LINTS)__CLIPPY_HACKERY__'
		export RUSTDOC='$(CURDIR)/bench/rustdoc-json' RUSTDOCFLAGS='-D warnings -Zunstable-options --output-format=json'
		cargo doc -q --workspace --lib --examples --no-deps --locked --target-dir $(BUILT)/surface
	) fi
	cargo build -q $(WORKSPACE) --locked --bin penstock-surface
	status=0; $(BUILT)/debug/penstock-surface $(BUILT)/surface/doc crates || status=$$?
	# Another compiler writes other pages: a reason to look, and in CI a failure.
	[ "$$status" = 3 ] && [ -z "$${CI:-}" ] || exit "$$status"

.PHONY: units
units:
	python3 bench/units.py $(UNITS) lint
	python3 bench/units.py $(UNITS) doc $(BUILT)/surface/doc

deny: setup ## licences and known vulnerabilities of the dependencies, by cargo-deny
	if ! cargo deny --version >/dev/null 2>&1; then
		echo 'deny: not run: cargo-deny is missing; `cargo install --locked cargo-deny`, then try again'; exit 0
	fi
	cargo deny --locked check licenses bans sources
	if [ -d "$${CARGO_HOME:-$$HOME/.cargo}/advisory-dbs" ] || curl -sfI -m 5 https://github.com >/dev/null; then
		cargo deny --locked check advisories
	else
		echo 'deny: advisories not run: their database is not here, and there is no way to it'
	fi

# The parsers that are fuzzed, for how long each [s], and on how many inputs at most; -1 is no limit.
FUZZ         ?= scenario record trace path vectors paper
FUZZ_SECONDS ?= 60
FUZZ_INPUTS  ?= -1
# What cargo-fuzz does on a stable compiler: coverage without a sanitizer. `--target` keeps it from build scripts.
COVERAGE = -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Clink-dead-code
fuzz: setup ## parsers of files and packets, by coverage, for FUZZ_SECONDS each; as root FUZZ=tc fuzzes the BPF programs
	host=$$(rustc -vV | sed -n 's/^host: //p')
	RUSTFLAGS='$(COVERAGE)' cargo build --locked --profile fuzz -p penstock-fuzz --features libfuzzer --bins --target "$$host" --target-dir $(BUILT)/fuzz
	cargo run -q --locked -p penstock-fuzz --example seeds -- $(OUT)/fuzz
	for target in $(FUZZ); do
		mkdir -p $(OUT)/fuzz/$$target/found crates/fuzz/corpus/$$target
		echo "fuzz: $$target"
		$(BUILT)/fuzz/$$host/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_INPUTS) -max_len=65536 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
			-artifact_prefix=$(OUT)/fuzz/$$target- $(OUT)/fuzz/$$target/found $(OUT)/fuzz/$$target/seeds crates/fuzz/corpus/$$target 2>&1 | tail -n 40
	done

nightly: setup ## what takes hours: tests that are ignored elsewhere, and 10^7 inputs for the parsers; docs/validation/nightly.md
	python3 bench/nightly.py $(OUT)/nightly

bless: setup ## accept golden pages, public interfaces, the printed pages of docs/ and vectors as they are now; look at the difference first
	PENSTOCK_BLESS=1 cargo test --locked -p penstock-report --test golden
	PENSTOCK_BLESS=1 cargo test --locked -p penstock-cli --test suite house::the_page_of
	PENSTOCK_BLESS=1 cargo test --locked -p penstock-cli --test suite notices::third_party
	PENSTOCK_BLESS=1 cargo test --locked -p penstock-kernel --test vectors
	PENSTOCK_BLESS=1 $(MAKE) -s surface

clean: ## what was built; records in out/ stay
	cargo clean

# What is missing is installed where this is root on Debian, and named otherwise. A person at a terminal is asked first;
# a script is not, and INSTALL=no or INSTALL=yes answers for either. Without what is optional everything but some tests
# runs (those inside the kernel, and of captures); they then say what they lack.
INSTALL ?= ask
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
	# Another installation may be under way, as Debian's own upgrades are.
	install() { DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends "$$@" </dev/null; }
	if [ -n "$$needs$$wants" ]; then
		answer='$(INSTALL)'
		if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then answer=no; fi
		if [ "$$answer" = ask ] && [ -t 0 ] && [ -t 2 ]; then
			read -r -p "setup: install$$needs$$wants with apt-get? [y/N] " answer
		fi
		case "$$answer" in ask | yes | y | Y) answer=yes ;; *) answer=no ;; esac
		if [ "$$answer" = yes ]; then
			echo "setup: installing$$needs$$wants (INSTALL=no would not)"
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
