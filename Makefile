# Everything a contributor runs. `make run` and `make test` install what is missing where they can.

SWIFT ?= swift
# Extra flags for building our own code, e.g. SWIFT_FLAGS='-Xswiftc -warnings-as-errors'.
SWIFT_FLAGS ?=
# What `make test-apps` builds: debug or release.
CONFIGURATION ?= debug
# Where `make run` leaves the store that it builds.
RUN_FOLDER ?= .build/grocery-dude

SOURCES := $(wildcard Sources Tests Plugins Benchmarks/Sources Examples/Apps/Sources Examples/Apps/Tests) \
	$(wildcard Package.swift Benchmarks/Package.swift Examples/Apps/Package.swift)

# What `make sanitize` looks for, each with a build of its own.
SANITIZERS ?= address thread

.PHONY: run test sanitize test-apps build lint format bench bench-check bench-baseline docs ci dependencies

## Builds a grocery store from XML, prints the shopping list by aisle and what the store holds.
run: dependencies
	$(SWIFT) build $(SWIFT_FLAGS) --product coredata
	COREDATA="$$($(SWIFT) build $(SWIFT_FLAGS) --show-bin-path)/coredata" Examples/GroceryDude/run.sh "$(RUN_FOLDER)"

## Runs every test.
test: dependencies
	$(SWIFT) build $(SWIFT_FLAGS) --build-tests
	$(SWIFT) test $(SWIFT_FLAGS) --skip-build --disable-xctest

## Runs every test under the address sanitizer, then under the thread sanitizer; SANITIZERS=thread for one of them.
sanitize: dependencies
	@for kind in $(SANITIZERS); do SWIFT="$(SWIFT)" Scripts/sanitize.sh $$kind $(SWIFT_FLAGS) || exit 1; done

## Runs the tests of the sample apps, which use the package as their owners would: CONFIGURATION=release in release.
test-apps: dependencies
	$(SWIFT) test $(SWIFT_FLAGS) --package-path Examples/Apps -c $(CONFIGURATION)

build: dependencies
	$(SWIFT) build $(SWIFT_FLAGS)

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
	$(SWIFT) build --package-path Benchmarks -c release --product bench-count

## Writes the reference of module CoreData as a website to .build/docs.
docs: dependencies
	Scripts/docs.sh .build/docs

## What CI does, with what this machine has.
ci:
	.ci/run

dependencies:
	@Scripts/dependencies.sh
