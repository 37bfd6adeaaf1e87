# make demo trains and translates, make test builds and tests everything, make test-more runs the slower tests. For other builds, use
# CMake: cmake --list-presets=all

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN)
export CTEST_PARALLEL_LEVEL ?= $(CMAKE_BUILD_PARALLEL_LEVEL)
# With nvcc, make test compiles all CUDA code. With a GPU, it also runs the CUDA tests.
cuda := $(if $(shell command -v nvcc),$(if $(shell nvidia-smi -L 2>/dev/null),cuda,cuda-compiles))

.PHONY: demo test test-more fuzz benchmark benchmark-gpu docs format clean

demo:  ## trains a small Transformer on the bundled corpus and translates with it
	@scripts/setup.sh build
	@cmake --preset cpu -DATTN_BUILD_TESTS=OFF -DATTN_BUILD_BENCHMARKS=OFF -DATTN_MPI=OFF
	@cmake --build build/cpu --target wmt14_train
	@build/cpu/examples/wmt14_train --overwrite

test:  ## builds and tests everything
	@scripts/setup.sh build test
	cmake --workflow --preset cpu
ifneq ($(cuda),)
	cmake --workflow --preset $(cuda)
endif
	@python3 scripts/compile_cost.py report build/cpu/compile_cost.tsv

test-more:  ## runs the tests under sanitizers, each header alone, other compilers, other processors, fuzz cases; MINUTES=n: those that fit
	@scripts/setup.sh build test more
	@scripts/test_more.sh $(if $(MINUTES),--minutes $(MINUTES))

fuzz:  ## searches for files that break a reader, SECONDS=60 per reader
	@scripts/fuzz.sh $(or $(SECONDS),60)

benchmark:  ## compares attn with PyTorch: the Transformer, single ops, recurrent models
	@scripts/setup.sh build test
	@cmake --preset cpu
	@cmake --build build/cpu --target benchmarks
	@build/venv/bin/python benchmarks/versus_pytorch.py --programs build/cpu/benchmarks
	@build/cpu/benchmarks/micro_ops
	@build/venv/bin/python benchmarks/versus_pytorch_recurrent.py --programs build/cpu/benchmarks

benchmark-gpu:  ## the same on a GPU; ARCH=80 builds for compute capability 8.0
	@scripts/gpu_benchmark.sh

docs:  ## builds the site in build/site; a broken link is an error
	@scripts/setup.sh docs
	@python3 scripts/site_pages.py build/site-pages
	@NO_MKDOCS_2_WARNING=true build/docs-venv/bin/mkdocs build --quiet --strict
	@echo "build/site/index.html"

format:  ## formats all sources in place
	@scripts/format.sh

clean:  ## removes the build folders; keeps the virtual environment
	rm -rf build/cpu build/cpu-debug build/cpu-tsan build/cuda build/cuda-compiles build/fuzz build/more
