# SPDX-License-Identifier: Apache-2.0
# Thin by intent: each target is one or two commands that can be typed by hand.
# Pieces of work stand in CMakePresets.json, tests/ and scripts below tests/.

JOBS   ?= 2
PYTHON := /usr/bin/python3
PYTEST := $(PYTHON) -m pytest -p no:cacheprovider
NICE   := nice -n 5

.PHONY: all help bootstrap build release demo demo-stop test unit integration sanitize lint format \
        bench fuzz clean

all: build

help:
	@echo 'make demo [KEEP=1]   a realm at work, and the proof that nothing holds its keys'
	@echo 'make demo-stop       stops what KEEP=1 left running'
	@echo 'make test            unit tests, integration tests, sanitizers'
	@echo 'make unit | integration | sanitize    each alone'
	@echo 'make lint            checks that need no run'
	@echo 'make bench           figures of docs/performance.md, release build'
	@echo 'make fuzz            fuzzers of the parsers, a minute each'
	@echo 'make build | release | clean          JOBS=2 compilers at once'

bootstrap:
	./bootstrap

build:
	@./bootstrap
	cmake --preset dev
	$(NICE) cmake --build --preset dev -j $(JOBS)

release:
	@./bootstrap
	cmake --preset release
	$(NICE) cmake --build --preset release -j $(JOBS)

# KEEP=1 leaves the realm running; `make demo-stop` stops it.
demo: build
	KEEP=$(KEEP) $(PYTHON) -m tests.e2e.demo

demo-stop:
	$(PYTHON) -m tests.e2e.demo.keep

test: unit integration sanitize

unit: build
	ctest --preset dev

integration: build
	$(PYTEST) tests/integration

# Address and undefined behaviour together, threads apart: they exclude each other.
sanitize:
	tests/sanitize asan $(JOBS)
	tests/sanitize tsan $(JOBS)

lint:
	@./bootstrap --lint
	tests/lint

format:
	git ls-files '*.c' '*.h' '*.cc' '*.cu' | xargs -r clang-format -i

bench: release
	tests/bench/run build/release/bin

fuzz:
	tests/fuzz/run $(JOBS)

clean:
	@$(PYTHON) -m tests.e2e.demo.keep >/dev/null 2>&1 || true
	rm -rf build var
