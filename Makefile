# Everything a contributor runs. `make run` and `make test` install what is missing where they can.

SWIFT ?= swift
# Extra flags for building our own code, e.g. SWIFT_FLAGS='-Xswiftc -warnings-as-errors'.
SWIFT_FLAGS ?=
# One folder for what every package builds in debug, so that modules they share are compiled once: SCRATCH=/tmp/build, as in CI. Going
# back and forth between packages in one folder fetches dependencies again, so without it each package has a folder of its own.
SCRATCH ?=
# The package manager keeps one plan for a folder and may take it for that of the next package.
SCRATCH_FLAGS = $(if $(SCRATCH),--scratch-path '$(SCRATCH)' --disable-build-manifest-caching)
# Without debug information, which takes a tenth of a build: LEAN=1, as in CI, and always for the web apps, which most people build to see
# them run. A crash then names functions without lines.
LEAN ?=
LEAN_FLAGS = -debug-info-format none
FLAGS = $(SWIFT_FLAGS) $(if $(LEAN),$(LEAN_FLAGS)) $(SCRATCH_FLAGS)
# Extra arguments of Scripts/run-tests.py: TESTS='--filter KilledProcess --width 1'.
TESTS ?=
# What `make test-apps` builds: debug or release.
CONFIGURATION ?= debug
# What `make run` tells the app: ARGS=--demo, ARGS=--check, ARGS='--store FILE --host 0.0.0.0'; PORT=8080.
ARGS ?=
export PORT
# Where `make run` has its store, and what the app is built with for that.
STORE ?=
# The model that `make service` serves.
MODEL ?= Service/Examples/Groceries.xcdatamodeld
STORE_TRAITS = $(if $(filter postgres%,$(STORE)),--traits PostgreSQL)
# Where `make shopping-list` leaves the store that it builds.
SHOPPING_FOLDER ?= .build/shopping-list

SOURCES := $(wildcard Sources Tests Plugins Benchmarks/Sources Examples/JSONFolderStore Examples/Apps/Sources Examples/Apps/Tests Examples/LivePages Examples/LivePagesTesting Examples/GroceryDude/Sources Examples/GroceryDude/Tests Examples/GroceryCloud/Sources Examples/GroceryCloud/Tests Examples/Studio/Sources Examples/Studio/Tests Examples/MyMovies/Sources Examples/MyMovies/Tests Fuzzing/Sources Service/Sources Service/Tests) \
	$(wildcard Package.swift Benchmarks/Package.swift Examples/Apps/Package.swift Examples/Package.swift Fuzzing/Package.swift Service/Package.swift)

# What `make sanitize` looks for, each with a build of its own.
SANITIZERS ?= address thread

# Where `make install` puts things, below DESTDIR; COREDATA and COREDATA_PORT name tools that are built already.
PREFIX ?= /usr/local
DESTDIR ?=
COREDATA ?=
COREDATA_PORT ?= $(if $(COREDATA),$(dir $(COREDATA))coredata-port)
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d

# The package of the web apps: what they depend on is built once for both.
WEB = Examples
WEB_FLAGS = $(SWIFT_FLAGS) $(LEAN_FLAGS) $(SCRATCH_FLAGS) --package-path $(WEB)

# The package of the service.
SERVICE = Service
SERVICE_FLAGS = $(SWIFT_FLAGS) $(LEAN_FLAGS) $(SCRATCH_FLAGS) --package-path $(SERVICE)

.PHONY: service test-service test-service-postgresql
## Serves a model to many people: make service MODEL=Groceries.xcdatamodeld STORE=groceries.sqlite PORT=8080; see docs/service.md.
service: dependencies
	$(SWIFT) build $(SERVICE_FLAGS) $(STORE_TRAITS) --product coredata-service
	@exec "$$($(SWIFT) build $(SERVICE_FLAGS) --show-bin-path)/coredata-service" --model '$(MODEL)' --store '$(or $(STORE),service.sqlite)' \
		$(if $(PORT),--port $(PORT)) $(ARGS)

## Runs the tests of the service, with schemathesis against its OpenAPI document.
test-service: dependencies
	@Scripts/test-servers.sh
	$(SWIFT) build $(SERVICE_FLAGS) --build-tests
	Scripts/run-tests.py --log $(SERVICE)/.build/tests.log $(TESTS) "$$($(SWIFT) build $(SERVICE_FLAGS) --show-bin-path)/ServicePackageTests.xctest"

## Runs those tests of the service that are about stores on PostgreSQL, and its accounts' with their store there.
test-service-postgresql: dependencies
	@Scripts/dependencies.sh postgresql
	$(SWIFT) build $(SERVICE_FLAGS) --traits PostgreSQL --build-tests
	Scripts/run-tests.py --filter PostgreSQLTests "$$($(SWIFT) build $(SERVICE_FLAGS) --show-bin-path)/ServicePackageTests.xctest"
	COREDATA_ACCOUNTS_ON_POSTGRESQL=1 Scripts/run-tests.py --filter CoreDataAccountsTests \
		"$$($(SWIFT) build $(SERVICE_FLAGS) --show-bin-path)/ServicePackageTests.xctest"

.PHONY: run test-run-postgresql movies cloud studio shopping-list test test-long nightly test-web bench-web pictures-web test-combine stress sanitize fuzz simulate test-apps syntax-range build-cost build install uninstall lint format bench bench-check bench-baseline docs ci dependencies

## Runs the web app Grocery Dude and prints its address; PORT=8123 for another port, ARGS=--demo for a list that is half done,
## STORE=FILE or STORE='postgresql://user@host/database?schema=groceries' for another place of the store.
run: dependencies
	$(SWIFT) build $(WEB_FLAGS) $(STORE_TRAITS) --product GroceryDude
	@exec "$$($(SWIFT) build $(WEB_FLAGS) --show-bin-path)/GroceryDude" --default-data $(if $(STORE),--store '$(STORE)') $(ARGS)

## Has Grocery Dude make a store on a PostgreSQL server of its own, answer every page from it, and find it again after it was killed; nothing where no server is installed.
test-run-postgresql: dependencies
	@SWIFT="$(SWIFT)" Scripts/grocery-on-postgresql.sh $(SWIFT_FLAGS) $(LEAN_FLAGS) $(SCRATCH_FLAGS)

## Runs the web app MyMovies, as `make run` does Grocery Dude.
movies: dependencies
	$(SWIFT) build $(WEB_FLAGS) --product MyMovies
	@exec "$$($(SWIFT) build $(WEB_FLAGS) --show-bin-path)/MyMovies" $(ARGS)

## Runs the web app Grocery Cloud with the service inside: accounts, households, one list for several people. PORT, STORE and ARGS as for `make run`.
cloud: dependencies
	$(SWIFT) build $(WEB_FLAGS) $(STORE_TRAITS) --product GroceryCloud
	@exec "$$($(SWIFT) build $(WEB_FLAGS) --show-bin-path)/GroceryCloud" $(if $(STORE),--store '$(STORE)') $(ARGS)

## Opens a model and a store in the browser: make studio ARGS='Groceries.xcdatamodeld groceries.sqlite'; ARGS=--demo for a filled store.
studio: dependencies
	$(SWIFT) build $(WEB_FLAGS) --product coredata-studio
	@exec "$$($(SWIFT) build $(WEB_FLAGS) --show-bin-path)/coredata-studio" $(ARGS)

## Builds a grocery store from XML with the coredata tool, prints the shopping list by aisle and what the store holds.
shopping-list: dependencies
	$(SWIFT) build $(SWIFT_FLAGS) --product coredata
	COREDATA="$$($(SWIFT) build $(SWIFT_FLAGS) --show-bin-path)/coredata" Examples/ShoppingList/run.sh "$(SHOPPING_FOLDER)"

## Runs every test, those of random work in a short form; prints the slowest and the CPU time of each suite. TESTS='--filter History' for some.
test: test-build
	Scripts/run-tests.py --apart '^(SpecificationTests|CoreDataPostgreSQLTests)\.' $(TESTS) "$$($(SWIFT) build $(FLAGS) --show-bin-path)/OpenCoreDataPackageTests.xctest"

## Runs every test in full: all seeds, kills and rounds.
test-long: export COREDATA_LONG_TESTS = 1
test-long: test

## What CI does not run every time: tests in full, long edits of one store by two processes, sanitizers, broken files for every reader.
nightly: test-long test-combine test-service-postgresql stress sanitize fuzz
	$(MAKE) test-apps CONFIGURATION=release

.PHONY: test-build
test-build: dependencies
	@Scripts/dependencies.sh python3
	@Scripts/test-servers.sh
	@Scripts/dependencies.sh postgresql pgbouncer || echo "Without a server and a pooler the tests on PostgreSQL and behind PgBouncer are skipped."
	$(SWIFT) build $(FLAGS) --build-tests

## Runs every test under the address sanitizer, then under the thread sanitizer; SANITIZERS=thread for one of them.
sanitize: dependencies
	@for kind in $(SANITIZERS); do SWIFT="$(SWIFT)" Scripts/sanitize.sh $$kind $(SWIFT_FLAGS) || exit 1; done

## Edits one store from eight contexts in each of two processes, STRESS_SECONDS=60, and checks that nothing was lost.
stress: dependencies
	$(SWIFT) build $(SWIFT_FLAGS) --build-tests
	STRESS_SECONDS="$(or $(STRESS_SECONDS),60)" $(SWIFT) test $(SWIFT_FLAGS) --skip-build --disable-xctest --filter StressTests

## Gives every reader of files broken ones, FUZZ_SECONDS=60 each; FUZZ_READERS="model-xml store" for some. See Fuzzing/.
fuzz: dependencies
	SWIFT="$(SWIFT)" Scripts/fuzz.sh

## Simulates synchronisation on several devices, built for release: EDITS=1000000 SEED=5000; a scenario that fails is printed as a script and a test.
simulate: dependencies
	$(SWIFT) build $(SWIFT_FLAGS) $(LEAN_FLAGS) -c release --product coredata
	"$$($(SWIFT) build $(SWIFT_FLAGS) -c release --show-bin-path)/coredata" sync simulate --edits $(or $(EDITS),100000) --seed $(or $(SEED),1)

## Runs the tests of what needs OpenCombine, in a build of its own: the package's trait compiles everything anew.
test-combine: dependencies
	$(SWIFT) test $(SWIFT_FLAGS) --traits OpenCombine --scratch-path .build/combine --disable-xctest --filter CoreDataCombineTests

## Runs the tests of the sample apps, which use the package as their owners would: CONFIGURATION=release in release.
test-apps: dependencies
	$(SWIFT) test $(FLAGS) --package-path Examples/Apps -c $(CONFIGURATION) --disable-xctest

## Runs the tests of the web apps, those in a browser too where Chromium is installed.
test-web: dependencies
	@Scripts/web-tools.sh
	@Scripts/test-servers.sh
	$(SWIFT) build $(WEB_FLAGS) --build-tests
	Scripts/run-tests.py --log $(WEB)/.build/tests.log $(TESTS) "$$($(SWIFT) build $(WEB_FLAGS) --show-bin-path)/WebAppsPackageTests.xctest"

## Measures Grocery Dude, built for release: 200 open pages, 50 edits a second; prints what it measures.
bench-web: dependencies
	$(SWIFT) build $(SWIFT_FLAGS) --package-path $(WEB) -c release --product GroceryDude
	BENCH_WEB="$$($(SWIFT) build $(SWIFT_FLAGS) --package-path $(WEB) -c release --show-bin-path)/GroceryDude" \
		$(SWIFT) test $(SWIFT_FLAGS) --package-path $(WEB) --disable-xctest --filter LoadBenchmark

## Takes the pictures that the READMEs of the web apps show, out of a browser.
pictures-web: dependencies
	@Scripts/web-tools.sh
	$(SWIFT) test $(WEB_FLAGS) --disable-xctest --filter picturesForTheReadme
	for name in cloud-prepare cloud-viewer grocery-prepare grocery-shop grocery-detail grocery-sync mymovies-list mymovies-edit mymovies-desk; do \
		vips copy $(WEB)/.build/screenshots/$$name.png "docs/images/$$name.png[palette,compression=9,strip]" || exit 1; done

## Builds and tests what reads Swift with the lowest and the highest swift-syntax; SYNTAX_VERSIONS="601.0.1 602.0.0" for others.
syntax-range: dependencies
	SWIFT="$(SWIFT)" Scripts/syntax-range.sh

## Measures a clean `make run`, and a clean build of an app that depends on the package; see docs/performance.md.
build-cost: dependencies
	SWIFT="$(SWIFT)" Scripts/build-cost.sh

build: dependencies
	$(SWIFT) build $(SWIFT_FLAGS)

# Nobody debugs what is installed: no debug information, no symbols.
INSTALL_FLAGS = $(SWIFT_FLAGS) -c release $(LEAN_FLAGS) -Xlinker -s
## Installs coredata and coredata-port, built for release, with completions for bash, zsh and fish: PREFIX=$$HOME/.local make install.
install:
	$(if $(COREDATA),,$(MAKE) dependencies && $(SWIFT) build $(INSTALL_FLAGS) --product coredata && \
		$(SWIFT) build $(INSTALL_FLAGS) --product coredata-port)
	FOLDER="$(if $(COREDATA),,$$($(SWIFT) build $(INSTALL_FLAGS) --show-bin-path))" && \
	COREDATA="$(or $(COREDATA),$$FOLDER/coredata)" && PORT="$(or $(COREDATA_PORT),$$FOLDER/coredata-port)" && \
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(BASH_COMPLETIONS)" "$(DESTDIR)$(ZSH_COMPLETIONS)" \
		"$(DESTDIR)$(FISH_COMPLETIONS)" && \
	install -m 755 "$$COREDATA" "$(DESTDIR)$(PREFIX)/bin/coredata" && \
	install -m 755 "$$PORT" "$(DESTDIR)$(PREFIX)/bin/coredata-port" && \
	"$$COREDATA" --generate-completion-script bash > "$(DESTDIR)$(BASH_COMPLETIONS)/coredata" && \
	"$$COREDATA" --generate-completion-script zsh > "$(DESTDIR)$(ZSH_COMPLETIONS)/_coredata" && \
	"$$COREDATA" --generate-completion-script fish > "$(DESTDIR)$(FISH_COMPLETIONS)/coredata.fish"

## Takes away what `make install` with the same PREFIX and DESTDIR put there.
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/coredata" "$(DESTDIR)$(PREFIX)/bin/coredata-port" "$(DESTDIR)$(BASH_COMPLETIONS)/coredata" \
		"$(DESTDIR)$(ZSH_COMPLETIONS)/_coredata" "$(DESTDIR)$(FISH_COMPLETIONS)/coredata.fish"

## Checks the formatting; `make format` mends what can be mended.
lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

format:
	$(SWIFT) format format --in-place --parallel --recursive $(SOURCES)

## Measures against raw SQLite; see Benchmarks/.
bench: dependencies
	@# Files that came or went in Sources are noticed only when the manifest is newer than the plan.
	@touch Benchmarks/Package.swift
	$(SWIFT) run --package-path Benchmarks -c release benchmarks

.PHONY: bench-postgresql
## Measures stores on a server beside plain libpq; needs libpq-dev and postgresql.
bench-postgresql: dependencies
	@touch Benchmarks/Package.swift
	$(SWIFT) run --package-path Benchmarks --traits PostgreSQL -c release bench-postgresql $(ARGS)

.PHONY: bench-sync
## Measures synchronisation beside fetches, exports and batch inserts.
bench-sync: dependencies
	@touch Benchmarks/Package.swift
	$(SWIFT) run --package-path Benchmarks -c release bench-sync $(ARGS)

COUNT = SWIFT="$(SWIFT)" "$$($(SWIFT) build --package-path Benchmarks -c release --show-bin-path)/bench-count"

## Counts instructions under valgrind and fails where one is more than 5 % above Benchmarks/baseline.json.
bench-check: bench-count
	$(COUNT) check Benchmarks/baseline.json

## Writes what bench-check compares with, after a change that moves the counts for a reason.
bench-baseline: bench-count
	$(COUNT) baseline Benchmarks/baseline.json

.PHONY: bench-count
bench-count:
	@Scripts/dependencies.sh valgrind
	@touch Benchmarks/Package.swift
	@# Without debug information, which the program is linked without: the instructions are the same, and valgrind reads none of it.
	$(SWIFT) build --package-path Benchmarks -c release -debug-info-format none --product bench-count

## Writes the reference of module CoreData as a website to .build/docs.
docs: dependencies
	Scripts/docs.sh .build/docs

## What CI does, with what this machine has.
ci:
	.ci/run

dependencies:
	@Scripts/dependencies.sh
