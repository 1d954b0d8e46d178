# yardstick: a thin front on meson. `make help` says what there is.
BUILD ?= build
PREFIX ?= /usr/local
PROGRAMS = yardstick yardstick-builtin yardstick-null yardstick-known yardstick-feeder yardstick-node yardstick-launch yardstick-browser \
  yardstick-collectives.so

.PHONY: all whole packages web cross cross-aarch64 run test test-mutants test-statistics test-adversaries test-handicap test-frameworks test-builds install format clean help

all: packages
	@tools/protocol.py
	@tools/build.py "$(BUILD)" --setup=--prefix="$$(realpath -ms "$(PREFIX)")" $(addprefix src/,$(PROGRAMS))
	@for program in $(PROGRAMS); do \
	  cmp -s "$(BUILD)/src/$$program" $$program || cp --remove-destination "$(BUILD)/src/$$program" $$program; done

packages:
	@tools/packages.sh

web: packages
	@tools/web.py "$(BUILD)"

TARGET ?= aarch64
cross: packages
	@tools/cross.py "$(BUILD)" "$(TARGET)"

cross-aarch64:
	@$(MAKE) --no-print-directory cross TARGET=aarch64

run: all
	@./yardstick install pytorch || echo "make: PyTorch could not be set up; the study runs without it" >&2
	@echo "./yardstick run studies/first.ys" >&2
	@./yardstick run studies/first.ys

whole: all
	@tools/build.py "$(BUILD)"

test: whole
	@tools/run_tests.py "$(BUILD)"

test-mutants: whole
	@tools/mutants.py "$(BUILD)"

test-statistics: whole
	@YS_STATISTICS_STUDIES=$${YS_STATISTICS_STUDIES:-4000} "$(BUILD)/tests/statistics/test_statistics_simulate"
	@YS_STATISTICS_STUDIES=$${YS_STATISTICS_STUDIES:-4000} "$(BUILD)/tests/statistics/test_statistics_decide"
	@YS_STATISTICS_STUDIES=$${YS_STATISTICS_STUDIES:-4000} "$(BUILD)/tests/statistics/test_statistics_disturbed"
	@YS_STATISTICS_STUDIES=$${YS_STATISTICS_STUDIES:-4000} "$(BUILD)/tests/statistics/test_statistics_tuning"

test-adversaries: whole
	@tools/run_tests.py "$(BUILD)" --suite adversaries

test-handicap: all
	@tests/handicap/handicap.py $(FRAMEWORKS)

test-frameworks: whole
	@tools/run_tests.py "$(BUILD)" --frameworks $(FRAMEWORKS)

test-builds: packages
	@tools/packages.sh clang
	@CC=gcc tools/build.py "$(BUILD)/release" --setup=--werror --setup=-Dbuildtype=release
	@CC=clang tools/build.py "$(BUILD)/clang" --setup=--werror --setup=-Dbuildtype=debug
	@CC=gcc tools/build.py "$(BUILD)/no-onednn" --setup=--werror --setup=-Donednn=disabled

install: all
	@tools/build.py "$(BUILD)" engine-libraries texts
	@meson setup --reconfigure "$(BUILD)" -Dprefix="$$(realpath -ms "$(PREFIX)")" >/dev/null
	meson install -C "$(BUILD)" --no-rebuild

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf "$(BUILD)" $(PROGRAMS) yardstick-builtin-aarch64 yardstick-instructions.so

help:
	@echo "make                     build ./yardstick and its helpers"
	@echo "make run                 build, set up PyTorch, run the first study, print its table, write its report"
	@echo "make cross TARGET=aarch64"
	@echo "                         the engine for that processor, for framework = builtin-aarch64 (install calls it)"
	@echo "make web                 the engine as a WebAssembly module, for framework = builtin-web (yardstick install calls it)"
	@echo "make test                the tests"
	@echo "make test-mutants        spoils the operators' kernels, one place at a time: a test must notice (hours)"
	@echo "make test-statistics     intervals and verdicts in thousands of made-up studies, as tables (ten minutes)"
	@echo "make test-adversaries    adapters that cheat in their runs: each must be found"
	@echo "make test-handicap       frameworks under yardstick against loops of their own, in turn; on a quiet machine"
	@echo "make test-frameworks     the tests that need a framework, and the check of every one that is installed"
	@echo "                         (yardstick install all); FRAMEWORKS='pytorch jax' names those to check"
	@echo "make test-builds         builds that must give no warning: gcc's with -O3, clang's, one without oneDNN"
	@echo "make install PREFIX=...  install programs, adapters, recipes, studies, metrics, and the"
	@echo "                         engine as a library with its header and pkg-config file"
	@echo "make format | clean"
