# SPDX-License-Identifier: Apache-2.0
# Thin by intent: each target is one or two commands that can be typed by hand.
# Pieces of work stand in CMakePresets.json, tests/ and scripts below tests/.

JOBS   ?= 2
PYTHON := /usr/bin/python3
PYTEST := $(PYTHON) -m pytest -p no:cacheprovider
NICE   := nice -n 5

.PHONY: all help bootstrap test-needs build release demo demo-stop test unit integration each sanitize \
        lint format bench bench-login scaling lut-scaling storm soak stress attack drill alerts-test migration deviations simulate simulate-compilers simulate-mutants simulate-night golden fuzz cuda cuda-configured \
        packages packages-test packages-compare repository install rollout-test collection test-cuda-host test-gpu gpu-programs gpu-bundle gpu-report cuda-figures mit-suite mit-suite-report clean

all: build

help:
	@echo 'make demo [KEEP=1] [SERVERS=2 [MODE=tables]]'
	@echo '                     a realm at work, and the proof that nothing holds its keys'
	@echo 'make demo-stop       stops what KEEP=1 left running'
	@echo 'make test            unit tests, integration tests, sanitizers'
	@echo 'make unit | integration | each | sanitize    one of them alone'
	@echo 'make lint            checks that need no run'
	@echo 'make bench           figures of docs/performance.md, release build; instruction counts'
	@echo 'make bench-login     kinit and kvno with servers near and far, by sharing and garbled; as root'
	@echo 'make scaling         the plot of docs/performance.md, some minutes'
	@echo 'make lut-scaling     the same of lookup tables, by blocks, threads and parties'
	@echo 'make storm SCENARIO=steady    load on a realm; without SCENARIO: which there are'
	@echo 'make soak MINUTES=60      logins at 70 % of the sustained rate; fails when anything grows'
	@echo 'make stress MINUTES=10      mixed traffic, ASan-built plugin, servers that are killed'
	@echo 'make drill           docs/operations/drills.md, typed on a realm: lost disks, old images, new keys'
	@echo 'make alerts-test     each alert rule fires in a real Prometheus by its fault; as root, minutes'
	@echo 'make attack          every known attack on a whole realm, each with what it learned; minutes (SERVERS=2)'
	@echo 'make migration PRINCIPALS=1000 [BACK=1] [SERVERS=2]   imports a stock realm, exports it; figures'
	@echo 'make deviations      a deviating server, over a thousand secrets each; an hour or more'
	@echo 'make simulate SEEDS=1000      realms in one thread, in virtual time, each from a seed'
	@echo 'make simulate-mutants    planted mistakes: in how many seeds each is found'
	@echo 'make simulate-compilers  two courses by clang: the same octets as by g++'
	@echo 'make simulate-night      seeds until something fails or morning comes'
	@echo 'make golden          writes the wire traces of tests/unit/trace anew: other octets sent'
	@echo 'make fuzz            fuzzers of the parsers, an hour in all (FUZZ_SECONDS=60 for each)'
	@echo 'make cuda            release build with the CUDA kernels, in build/cuda (toolkit from PyPI)'
	@echo 'make mit-suite [ONLY=t_skew.py]   MIT'\''s own scripts, without tkdc and with it; docs/mit-suite.md'
	@echo 'make test-cuda-host  every kernel compiled by nvcc; their bodies run on this CPU'
	@echo 'make test-gpu        kernels, protocols and realms on GPU 0; says so where there is none'
	@echo 'make gpu-report      everything promised of a GPU, measured there in ten minutes; table and JSON'
	@echo 'make gpu-bundle      its programs with their libraries, for a machine that cannot build'
	@echo 'make cuda-figures    registers and instructions of each kernel, from its machine code'
	@echo 'make packages        Debian packages of the commit, checked by lintian, in build/packages; CUDA=1: and tkdc-server-cuda'
	@echo 'make packages-test | packages-compare    on a host with systemd; built twice and compared'
	@echo 'make repository KEY=FINGERPRINT    a signed apt repository of them, in build/repository'
	@echo 'make rollout-test    hosts installed by Ansible, and what happens to them; collection: its file'
	@echo 'make install [DESTDIR=/x] [PREFIX=/usr]    a release build, where there are no such packages'
	@echo 'make build | release | clean          JOBS=2 compilers at once'

bootstrap:
	./bootstrap

test-needs:
	@./bootstrap --test

build:
	@./bootstrap
	cmake --preset dev
	$(NICE) cmake --build --preset dev -j $(JOBS)

release:
	@./bootstrap
	cmake --preset release
	$(NICE) cmake --build --preset release -j $(JOBS)

packages:
	@./bootstrap --packages
ifeq ($(CUDA),1)
	@./bootstrap --cuda
	root=$(or $(CUDA_ROOT),$$(cuda/fetch-toolkit)) && JOBS=$(JOBS) TKDC_CUDA_ROOT="$$root" $(NICE) config/debian/make build/packages
else
	JOBS=$(JOBS) $(NICE) config/debian/make build/packages
endif
	lintian --fail-on error,warning --info build/packages/*.changes

# Everything that the packages hold; systemd and krb5 look for it with PREFIX=/usr.
install:
	@./bootstrap
	cmake --preset release -DCMAKE_INSTALL_PREFIX=$(or $(PREFIX),/usr)
	$(NICE) cmake --build --preset release -j $(JOBS) --target packaged-programs
	for part in server kdc tools storm tkdc-engine; do \
	  DESTDIR=$(DESTDIR) cmake --install build/release --component $$part || exit; \
	done

# Packages on a host with a systemd of its own; as root.
packages-test: packages
	$(PYTEST) -q tests/packages

# Real hosts by systemd-nspawn, real SSH, real Ansible; as root. ONLY=WORD: these steps and what they need; SERVERS=2: on two.
rollout-test:
	@./bootstrap --rollout
	JOBS=$(JOBS) TKDC_ROLLOUT_SERVERS=$(SERVERS) $(NICE) $(PYTHON) -m tests.rollout $(if $(SHORT),--short) $(if $(ONLY),--only $(ONLY))

# For ansible-galaxy collection install build/tkdc-appliance-*.tar.gz
collection:
	@./bootstrap --rollout
	ansible-galaxy collection build ansible --force --output-path build

# KEY: a secret key that gpg has.
repository: packages
	config/debian/repository $(KEY)

packages-compare:
	@./bootstrap --packages
	JOBS=$(JOBS) $(NICE) config/debian/compare

# KEEP=1 leaves the realm running; `make demo-stop` stops it.
demo:
	@./bootstrap
	cmake --preset dev
	$(NICE) cmake --build --preset dev -j $(JOBS) --target demo-programs
	KEEP=$(KEEP) SERVERS=$(SERVERS) MODE=$(MODE) $(PYTHON) -m tests.e2e.demo

demo-stop:
	$(PYTHON) -m tests.e2e.demo.keep

test: test-needs build
	tests/all $(JOBS)

unit: build
	ctest --preset dev

integration: test-needs build
	$(PYTEST) -n 2 --dist loadfile tests/integration

# Builds of tests join sources; here no file finds what another one has included.
each:
	@./bootstrap
	$(NICE) $(PYTHON) -m tests.each_file $(JOBS)

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
	$(PYTHON) -m tests.bench.instructions build/release/bin

# As root. What a user waits for, near and far, by sharing and by garbled circuits.
bench-login: release
	TKDC_BIN=build/release/bin $(PYTHON) -m tests.bench.login_latency

scaling: release
	$(PYTHON) -m tests.bench.scaling build/release/bin --out docs/scaling.svg

lut-scaling: release
	$(PYTHON) -m tests.bench.lut_scaling build/release/bin --out docs/lut-scaling.svg

# SECONDS of each run; everything on loopback, and it stops by itself.
storm: release
	TKDC_BIN=$(CURDIR)/build/release/bin $(PYTHON) -m tests.storm $(or $(SCENARIO),--help) \
	  $(if $(SECONDS),--seconds $(SECONDS)) $(if $(LANES),--lanes $(LANES)) \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(PRINCIPALS),--principals $(PRINCIPALS)) \
	  $(if $(RTT_MS),--rtt-ms $(RTT_MS))

# An hour of logins; memory and open files must not grow.
soak:
	$(MAKE) storm SCENARIO=soak

# MIT's scripts, one at a time, in a folder outside the tree (TKDC_MIT_SUITE). What has passed is not
# run again: AGAIN=1 does.
mit-suite: build
	@./bootstrap --suite
	$(PYTHON) -m tests.mit_suite $(if $(ONLY),--only $(ONLY)) $(if $(AGAIN),--again)

# Writes the tables of docs/mit-suite.md from the results.
mit-suite-report:
	$(PYTHON) -m tests.mit_suite --report

# Mixed traffic with an ASan-built plugin while servers go away and come back.
stress: build
	cmake --preset asan
	$(NICE) cmake --build --preset asan -j $(JOBS) --target ktkdc tkdc-k5
	$(PYTHON) -m tests.stress --plugins build/asan/bin --minutes $(or $(MINUTES),10) \
	  --seed $(or $(SEED),1)

# Every known attack on a whole realm; controls with a guard taken out. It stops by itself.
attack:
	@./bootstrap
	cmake --preset dev
	$(NICE) cmake --build --preset dev -j $(JOBS) --target attack-programs
	$(PYTHON) -m tests.attack --servers $(or $(SERVERS),3)

# What administrators type when servers are lost, stolen or set back: docs/operations/drills.md.
drill: build
	$(PYTHON) -m tests.drills

# Those of config/monitoring; `make test` makes some of the faults.
alerts-test: build
	TKDC_ALERTS=all $(PYTEST) tests/integration/test_alerts.py

# A stock realm of this many users is imported while one logs in.
migration: release
	$(PYTHON) -m tests.bench.migration build/release/bin --logins $(if $(BACK),--back) \
	  --principals $(or $(PRINCIPALS),1000) --servers $(or $(SERVERS),3)

# One party deviates in a random message bit: abort rates over a thousand secrets.
deviations: release
	TKDC_DEVIATIONS=$(or $(DEVIATIONS),100) TKDC_SECRETS=1000 \
	  build/release/bin/verify_test --gtest_filter='*Dev*:*Phase*'
	TKDC_SECRETS=1000 build/release/bin/api_test --gtest_filter='*ClaimsOfRings*'

# A realm in one thread, in virtual time, from each of SEEDS seeds: docs/testing.md.
simulate:
	tests/sim/run seeds $(or $(SEEDS),1000) $(FROM)

simulate-mutants:
	SEEDS=$(or $(SEEDS),500) tests/sim/run mutants $(MUTANTS)

# By clang-16, which nothing else needs.
simulate-compilers:
	$(NICE) tests/sim/run compilers

simulate-night:
	tests/sim/run night

# Every test whose suite ends in Golden, one at a time: each reads its file and adds its lines.
golden: build
	TKDC_UPDATE_GOLDEN=1 ctest --preset dev -j 1 -R 'Golden\.'

fuzz:
	tests/fuzz/run $(JOBS)

# CUDA_ROOT=/usr/local/cuda: the machine's own toolkit. Nothing is installed then, from PyPI or Debian;
# cmake says what is missing.
cuda-configured:
ifdef CUDA_ROOT
	cmake --preset cuda -DTKDC_CUDA_ROOT="$(CUDA_ROOT)"
else
	@./bootstrap --cuda
	root=$$(cuda/fetch-toolkit) && cmake --preset cuda -DTKDC_CUDA_ROOT="$$root"
endif

cuda: cuda-configured
	$(NICE) cmake --build --preset cuda -j $(JOBS)

test-cuda-host: cuda-configured
	$(NICE) cmake --build --preset cuda -j $(JOBS) --target cuda_test gpu_test
	build/cuda/bin/cuda_test

# The kernels, the engine's protocols, whole realms whose servers compute everything on the GPU. Status 2,
# and the reason, where no GPU can be used.
test-gpu: cuda
	build/cuda/bin/gpu_test
	for step in 0 7 33; do build/cuda/bin/gpu_test --lose-device=$$step || exit; done
	for part in cipher verify trace; do TKDC_TEST_GPU=1 build/cuda/bin/$${part}_test || exit; done
	TKDC_TEST_BACKEND=cuda TKDC_BIN=$$PWD/build/cuda/bin $(PYTHON) -m pytest -q tests/integration/test_login.py \
	  tests/integration/test_enctypes.py tests/integration/test_fast.py tests/integration/test_bench_exchange.py

cuda-figures: cuda-configured
	$(NICE) cmake --build --preset cuda -j $(JOBS) --target tkdc_cuda
	CUDA_ROOT="$(CUDA_ROOT)" $(PYTHON) -m tests.bench.cuda_figures build/cuda/cuda/gpu.cu.o

# What is run on a GPU, and the kernels' floors beside it.
gpu-programs: cuda-configured
	$(NICE) cmake --build --preset cuda -j $(JOBS) --target gpu_test tkdc tkdc-workbench
	CUDA_ROOT="$(CUDA_ROOT)" $(PYTHON) -m tests.bench.cuda_figures build/cuda/cuda/gpu.cu.o \
	  >build/cuda/figures.txt || rm build/cuda/figures.txt

# For a machine with a GPU that cannot build: gpu-report PROGRAMS=build/gpu-bundle/bin there.
gpu-bundle: gpu-programs
	cuda/bundle

# Every figure that is promised of a GPU, in ten minutes, into build/gpu-report (OUT=FOLDER). Status
# 2, and the reason, where no GPU can be used.
gpu-report: $(if $(PROGRAMS),,gpu-programs)
	$(PYTHON) -m tests.bench.gpu_report --programs $(or $(PROGRAMS),build/cuda/bin) \
	  --out $(or $(OUT),build/gpu-report) $(if $(CUDA_ROOT),--cuda-root $(CUDA_ROOT)) \
	  $(if $(MINUTES),--minutes $(MINUTES))

clean:
	@$(PYTHON) -m tests.e2e.demo.keep >/dev/null 2>&1 || true
	rm -rf build var
