# Shortcuts; the build itself is CMake's (CMakePresets.json).
PREFIX = /usr/local
JOBS = $(shell nproc)
TESTS = $(shell expr $(JOBS) + 1)  # at a time: they wait more than they compute
BUILD := build/release
# A new build folder has no tests, which would ask for GoogleTest. One that is configured stays as
# it is: ninja deletes the programs of tests that are switched off.
WITHOUT_TESTS = $(if $(wildcard $(BUILD)/build.ninja),,-DPHOTON_BUILD_TESTS=OFF)
WITHOUT_EXAMPLES = $(if $(wildcard $(BUILD)/build.ninja),,-DPHOTON_BUILD_EXAMPLES=OFF)
WITH_STATIC = $(STATIC:%=-DPHOTON_BUILD_STATIC=%)

PAPER =
# `make papers` makes pages, which are committed where INTO=docs/papers.
PAPERS = $(PAPER:%=--paper %) $(patsubst %,--quick,$(filter-out 0 no off,$(QUICK))) $(INTO:%=--into %) $(patsubst %,--fresh,$(filter-out 0 no off,$(FRESH)))

.PHONY: help demo test bench papers soak check install clean

help: ## This list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

demo: ## Build, show each of the five systems at work, and a simulated network
	scripts/install-deps build demo
	cmake --preset release $(WITHOUT_TESTS) -DPHOTON_BUILD_EXAMPLES=ON
	cmake --build $(BUILD) --target programs -j $(JOBS)
	scripts/demo $(BUILD)

test: ## Build everything and run all tests
	scripts/install-deps build demo test
	scripts/install-deps plot || echo "make test: photon-perf --plot and scripts/draw stay untested"
	cmake --preset release -DPHOTON_BUILD_TESTS=ON -DPHOTON_BUILD_EXAMPLES=ON -DPHOTON_BUILD_STATIC=ON
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) -j $(TESTS) --output-on-failure

bench: ## Every question photon-perf answers, as tables
	scripts/install-deps build
	cmake --preset release $(WITHOUT_TESTS) $(WITHOUT_EXAMPLES)
	cmake --build $(BUILD) --target programs -j $(JOBS)
	scripts/bench $(BUILD)

papers: ## The experiments of the five papers: two hours, QUICK=1 five minutes; PAPER=pwc,nbc,...
	scripts/install-deps build demo
	scripts/install-deps test || echo "make papers: rows of an MPI that is missing say so"
	scripts/install-deps plot || echo "make papers: no pictures are drawn"
	cmake --preset release $(WITHOUT_TESTS) -DPHOTON_BUILD_EXAMPLES=ON
	cmake --build $(BUILD) --target programs papers -j $(JOBS)
	bench/papers/run $(BUILD) $(PAPERS)

soak: ## What takes too long for the tests, also those of the sanitizers: some three hours
	scripts/install-deps build demo test check
	cmake --preset release -DPHOTON_BUILD_TESTS=ON -DPHOTON_BUILD_EXAMPLES=ON
	cmake --build $(BUILD) -j $(JOBS)
	scripts/soak $(BUILD)

check: ## Format, static checks, tidy rules
	scripts/install-deps build demo test check
	scripts/check

install: ## Into PREFIX (default /usr/local); STATIC=ON: libphoton.a as well
	scripts/install-deps build
	cmake --preset release $(WITHOUT_TESTS) $(WITHOUT_EXAMPLES) $(WITH_STATIC)
	cmake --build $(BUILD) --target programs -j $(JOBS)
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build
