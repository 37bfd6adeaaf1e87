# Two commands: make demo, make test; make test-more has what takes longer. Everything else is CMake: cmake --list-presets=all

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN)
export CTEST_PARALLEL_LEVEL ?= $(CMAKE_BUILD_PARALLEL_LEVEL)
# Where there is nvcc all CUDA code is compiled; where there is a GPU its tests run.
cuda := $(if $(shell command -v nvcc),$(if $(shell nvidia-smi -L 2>/dev/null),cuda,cuda-compiles))

.PHONY: demo test test-more fuzz benchmark benchmark-gpu docs format clean

demo:  ## trains a small Transformer on the bundled corpus and translates with it
	@scripts/setup.sh build
	@cmake --preset cpu -DATTN_BUILD_TESTS=OFF -DATTN_BUILD_BENCHMARKS=OFF -DATTN_MPI=OFF
	@cmake --build build/cpu --target wmt14_train
	@build/cpu/examples/wmt14_train --overwrite

test:  ## builds and checks everything
	@scripts/setup.sh build test
	cmake --workflow --preset cpu
ifneq ($(cuda),)
	cmake --workflow --preset $(cuda)
endif
	@python3 scripts/compile_cost.py report build/cpu/compile_cost.tsv

test-more:  ## the tests under sanitizers, each header alone, other compilers, other processors, fuzz cases
	@scripts/setup.sh build test more
	@scripts/test_more.sh

fuzz:  ## looks for files that break a reader, SECONDS=60 each
	@scripts/fuzz.sh $(or $(SECONDS),60)

benchmark:  ## times attn side by side with PyTorch: the Transformer, ops one by one, recurrent models
	@scripts/setup.sh build test
	@cmake --preset cpu
	@cmake --build build/cpu --target benchmarks
	@build/venv/bin/python benchmarks/versus_pytorch.py --programs build/cpu/benchmarks
	@build/cpu/benchmarks/micro_ops
	@build/venv/bin/python benchmarks/versus_pytorch_recurrent.py --programs build/cpu/benchmarks

benchmark-gpu:  ## the same on a GPU: what attn must reach there, its goals, and where the time goes
	@scripts/gpu_benchmark.sh

docs:  ## builds the site into build/site; a link to nowhere is an error
	@scripts/setup.sh docs
	@python3 scripts/site_pages.py build/site-pages
	@NO_MKDOCS_2_WARNING=true build/docs-venv/bin/mkdocs build --quiet --strict
	@echo "build/site/index.html"

format:  ## formats every source in place
	@scripts/format.sh

clean:  ## removes what was built; keeps the virtual environment
	rm -rf build/cpu build/cpu-debug build/cpu-tsan build/cuda build/cuda-compiles build/fuzz build/more
