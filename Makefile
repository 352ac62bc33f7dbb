# Shortcuts; the build itself is CMake's (CMakePresets.json).
PREFIX = /usr/local
JOBS = $(shell nproc)
BUILD := build/release

.PHONY: help demo test bench check install clean

help: ## This list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

demo: ## Build, run four ranks of heat2d and a first measurement
	scripts/install-deps build test
	cmake --preset release
	cmake --build $(BUILD) --target programs -j $(JOBS)
	scripts/demo $(BUILD)

test: ## Build everything and run all tests
	scripts/install-deps build test
	scripts/install-deps plot || echo "make test: photon-perf --plot stays untested"
	cmake --preset release -DPHOTON_BUILD_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure

bench: ## Every question photon-perf answers, as tables
	scripts/install-deps build test
	cmake --preset release
	cmake --build $(BUILD) --target programs -j $(JOBS)
	scripts/bench $(BUILD)

check: ## Format, static checks, tidy rules
	scripts/install-deps build test check
	scripts/check

install: ## Into PREFIX (default /usr/local)
	scripts/install-deps build test
	cmake --preset release
	cmake --build $(BUILD) --target programs -j $(JOBS)
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build
