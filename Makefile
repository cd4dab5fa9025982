# Everyday commands. `make test` is what .ci/run runs after the style checks.

SWIFT ?= swift
SWIFTC ?= swiftc
PYTHON ?= /usr/bin/python3

# Another implementation of the protocol, which the tests talk to.
VARLINK_VERSION := 31.0.0
VARLINK_ENV := $(CURDIR)/.build/varlink-$(VARLINK_VERSION)
export VARLINK_PYTHON := $(VARLINK_ENV)/bin/python

# What the virtual machine of the tests boots from, and other Debians.
VM := .build/vm
DEBIAN := .build/debian
METRICS := .build/prometheus
COCKPIT_TOOLS := .build/cockpit

SWIFT_FILES := $(wildcard Package.swift Sources Tests Examples Benchmarks)

.PHONY: build stripped build-tests debug-tests completions install uninstall files sizes deb test test-all test-rest test-debug test-python
.PHONY: test-metrics test-cockpit test-long demo
.PHONY: fuzz fuzz-live sanitize torture torture-vm bench microbenchmark instruction-counts format lint deps test-deps

PROGRAMS := bgtaskd bgtaskctl bgtask-executor

# The folder of the programs to install.
BUILD := .build/stripped

# What the Swift runtime starts to tell where a program has crashed; it comes with the compiler.
BACKTRACER = $(shell $(SWIFT) -print-target-info | sed -n \
    's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1|p')/libexec/swift/linux/swift-backtrace-static

# One file a program, with the Swift runtime inside: .build/release/bgtaskd and its like, with their symbols, and in
# .build/stripped what is installed, with the symbols beside it.
build: deps
	for program in $(PROGRAMS); do \
	    $(SWIFT) build -c release --product $$program || exit 1; \
	done
	@$(MAKE) --no-print-directory stripped

# What is installed, of what is built.
stripped:
	@config/strip .build/release $(BUILD) $(PROGRAMS)
	@objcopy --strip-all "$(BACKTRACER)" $(BUILD)/swift-backtrace
	@$(MAKE) --no-print-directory completions

# What the shells know of the command line of bgtaskctl, as it tells it, with what config/completions adds to it: the
# commands behind --. The end of the script for zsh is there too, since it comes last. Those of bgtaskd are all there.
completions:
	@mkdir -p $(BUILD)/completions
	@for shell in bash zsh fish; do \
	    script=$$($(BUILD)/bgtaskctl --generate-completion-script $$shell) || exit 1; \
	    printf '%s\n' "$$script" | sed '1{/^#!/d}; /^if .*{funcstack/,$$d' | \
	        cat - config/completions/bgtaskctl.$$shell >$(BUILD)/completions/bgtaskctl.$$shell; \
	done

# What `make install` copies, and where to: KIND SOURCE DESTINATION. systemd, man and the shells look below
# /usr and /usr/local; fish has a folder in /etc for what no package brings.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
FISH := $(if $(filter /usr,$(PREFIX)),/usr/share/fish/vendor_completions.d,$(SYSCONFDIR)/fish/completions)
SHARE := $(PREFIX)/share
COCKPIT := $(SHARE)/cockpit/bgtaskd
UNITS := $(PREFIX)/lib/systemd
DEBUG := /usr/lib/debug

define FILES
program  $(BUILD)/bgtaskd                      $(PREFIX)/bin/bgtaskd
program  $(BUILD)/bgtaskctl                    $(PREFIX)/bin/bgtaskctl
program  $(BUILD)/bgtask-executor              $(PREFIX)/libexec/bgtaskd/bgtask-executor
program  $(BUILD)/swift-backtrace              $(PREFIX)/libexec/bgtaskd/swift-backtrace
debug    $(BUILD)/bgtaskd.debug                $(DEBUG)$(PREFIX)/bin/bgtaskd.debug
debug    $(BUILD)/bgtaskctl.debug              $(DEBUG)$(PREFIX)/bin/bgtaskctl.debug
debug    $(BUILD)/bgtask-executor.debug        $(DEBUG)$(PREFIX)/libexec/bgtaskd/bgtask-executor.debug
settings config/bgtaskd.toml                   $(SYSCONFDIR)/bgtaskd/bgtaskd.toml
unit     systemd/system/bgtaskd.socket         $(UNITS)/system/bgtaskd.socket
unit     systemd/system/bgtaskd.service        $(UNITS)/system/bgtaskd.service
unit     systemd/system/bgtask-executor.socket $(UNITS)/system/bgtask-executor.socket
unit     systemd/system/bgtask-executor.service $(UNITS)/system/bgtask-executor.service
unit     systemd/system/bgtaskd.slice          $(UNITS)/system/bgtaskd.slice
unit     systemd/system/bgtaskd-metrics.service $(UNITS)/system/bgtaskd-metrics.service
unit     systemd/system/bgtaskd-metrics.timer  $(UNITS)/system/bgtaskd-metrics.timer
text     config/bgtaskd.rules.yml              $(SHARE)/doc/bgtaskd/bgtaskd.rules.yml
text     config/bgtaskd.dashboard.json         $(SHARE)/doc/bgtaskd/bgtaskd.dashboard.json
text     systemd/system/hardened.conf          $(SHARE)/doc/bgtaskd/hardened.conf
unit     systemd/user/bgtaskd.socket           $(UNITS)/user/bgtaskd.socket
unit     systemd/user/bgtaskd.service          $(UNITS)/user/bgtaskd.service
unit     systemd/user/bgtask-executor.socket   $(UNITS)/user/bgtask-executor.socket
unit     systemd/user/bgtask-executor.service  $(UNITS)/user/bgtask-executor.service
text     config/needrestart.conf               $(SYSCONFDIR)/needrestart/conf.d/bgtask-executor.conf
text     config/completions/bgtaskd.bash        $(SHARE)/bash-completion/completions/bgtaskd
built    $(BUILD)/completions/bgtaskctl.bash   $(SHARE)/bash-completion/completions/bgtaskctl
text     config/completions/bgtaskd.zsh         $(SHARE)/zsh/site-functions/_bgtaskd
built    $(BUILD)/completions/bgtaskctl.zsh    $(SHARE)/zsh/site-functions/_bgtaskctl
text     config/completions/bgtaskd.fish        $(FISH)/bgtaskd.fish
built    $(BUILD)/completions/bgtaskctl.fish   $(FISH)/bgtaskctl.fish
text     systemd/bgtaskd.catalog               $(UNITS)/catalog/bgtaskd.catalog
text     Sources/TaskAPI/interfaces/org.bgtaskd.Tasks.varlink  $(SHARE)/bgtaskd/org.bgtaskd.Tasks.varlink
text     Sources/TaskAPI/interfaces/org.bgtaskd.Applications.varlink  $(SHARE)/bgtaskd/org.bgtaskd.Applications.varlink
text     Sources/TaskAPI/interfaces/org.bgtaskd.Manager.varlink  $(SHARE)/bgtaskd/org.bgtaskd.Manager.varlink
text     Sources/TaskAPI/interfaces/io.systemd.service.varlink  $(SHARE)/bgtaskd/io.systemd.service.varlink
text     systemd/man/bgtaskd.8                 $(SHARE)/man/man8/bgtaskd.8
text     systemd/man/bgtask-executor.8         $(SHARE)/man/man8/bgtask-executor.8
text     systemd/man/bgtaskctl.1               $(SHARE)/man/man1/bgtaskctl.1
text     systemd/man/bgtaskd.toml.5            $(SHARE)/man/man5/bgtaskd.toml.5
text     clients/cockpit/manifest.json         $(COCKPIT)/manifest.json
text     clients/cockpit/index.html            $(COCKPIT)/index.html
text     clients/cockpit/bgtaskd.css           $(COCKPIT)/bgtaskd.css
text     clients/cockpit/connection.js         $(COCKPIT)/connection.js
text     clients/cockpit/daemons.js            $(COCKPIT)/daemons.js
text     clients/cockpit/dom.js                $(COCKPIT)/dom.js
text     clients/cockpit/filter.js             $(COCKPIT)/filter.js
text     clients/cockpit/main.js               $(COCKPIT)/main.js
text     clients/cockpit/model.js              $(COCKPIT)/model.js
text     clients/cockpit/orders.js             $(COCKPIT)/orders.js
text     clients/cockpit/po.de.js              $(COCKPIT)/po.de.js
text     clients/cockpit/po.fr.js              $(COCKPIT)/po.fr.js
text     clients/cockpit/po.manifest.de.js     $(COCKPIT)/po.manifest.de.js
text     clients/cockpit/po.manifest.fr.js     $(COCKPIT)/po.manifest.fr.js
text     clients/cockpit/session.js            $(COCKPIT)/session.js
text     clients/cockpit/submission.js         $(COCKPIT)/submission.js
text     clients/cockpit/task.js               $(COCKPIT)/task.js
text     clients/cockpit/text.js               $(COCKPIT)/text.js
text     clients/cockpit/theme.js              $(COCKPIT)/theme.js
text     clients/cockpit/timeline.js           $(COCKPIT)/timeline.js
text     clients/cockpit/times.js              $(COCKPIT)/times.js
text     clients/cockpit/varlink.js            $(COCKPIT)/varlink.js
text     clients/cockpit/views.js              $(COCKPIT)/views.js
text     clients/cockpit/words.js              $(COCKPIT)/words.js
endef
export FILES BUILD DESTDIR PREFIX SYSCONFDIR KEEP SYSTEMD_VERSION

# As root, into the running system: copies what `make build` has made, and starts the socket. Over an
# earlier version it restarts a daemon that runs; commands go on meanwhile, under the bgtask-executor that runs. With DESTDIR=FOLDER it
# only fills that folder, for a package. SYSTEMD_VERSION= is for a package that is built elsewhere.
install:
	@config/setup install

# Stops the daemon and leaves nothing but what users have in their homes; KEEP=yes leaves the settings and the
# state.
uninstall:
	@config/setup uninstall

# Where `make install` puts its files.
files:
	@config/setup files

# How large each Debian package is; fails where one is larger than is promised.
sizes:
	@.ci/sizes

# A Debian package of what `make build` makes, and one of its symbols, in .build/deb; with lintian's judgement.
DEB := .build/deb
DEB_TOOLS := build-essential debhelper fakeroot lintian

deb: build
	@.ci/deps packages $(DEB_TOOLS)
	@rm -rf $(DEB) && mkdir -p $(DEB)/programs
	@cp -R $(addprefix .build/release/,$(PROGRAMS)) $(BUILD)/swift-backtrace $(BUILD)/completions $(DEB)/programs
	@touch $(addprefix $(DEB)/programs/,$(addsuffix .debug,$(PROGRAMS)))
	@dpkg-buildpackage --build=binary --no-sign --no-pre-clean --changes-option=-u$(DEB) --buildinfo-option=-u$(DEB) \
	    --buildinfo-file=$(DEB)/bgtaskd.buildinfo --changes-file=$(DEB)/bgtaskd.changes >$(DEB)/log 2>&1 \
	    || { cat $(DEB)/log >&2; exit 1; }
	@rm -r $(DEB)/programs debian/.debhelper debian/bgtaskd debian/cockpit-bgtaskd
	@lintian --no-cfg --allow-root --fail-on error,warning $(DEB)/bgtaskd.changes
	@ls -1 $(DEB)/*.deb

# Runs tests for so many minutes at most, far more than a slow machine takes: a run that hangs ends and says where.
BOUNDED := Tests/System/bounded-test
TIMES := $(if $(BGTASK_LONG),20,1)

# Where each run writes how long it took, for the table at the end.
export BGTASK_TIMES := $(CURDIR)/.build/times
TIMED := Tests/System/timed
TABLE = Tests/System/test-times $(BGTASK_TIMES)

# The release build of what ships compiles its tests too, and the programs that are tested are those that ship.
RUNNER := .build/release/bgtaskdPackageTests.xctest --testing-library swift-testing
RUN = env BGTASK_PROGRAMS=$(CURDIR)/$(BUILD) BGTASK_LABEL=$(@:run-%=%) $(BOUNDED) $$((30 * $(TIMES))) $(RUNNER)

# With a debug build instead, whose programs assert what is not asked in what ships.
DEBUG_RUN = $(subst /release/,/debug/,$(subst BGTASK_PROGRAMS=$(CURDIR)/$(BUILD),,$(RUN)))

# What starts the programs, and what has a process of its own: its host kills children that it does not know.
STARTING := DaemonTests|bgtaskctlTests|ExampleTests|ManualPageTests

# What takes minutes: a package on two Debians, virtual machines, another Debian's programs.
LONG := SystemTests\.(PackageTests|ClientsPageTests|VirtualMachineTests|TortureTests)

# Runs of tests that wait more than they compute, and so run side by side, with what each prints at its end.
RUNS := systemd-a systemd-b systemd-j systemd-s daemon-a daemon-b daemon-o linux programs parts python metrics
REST_RUNS := long supervised-a supervised-b cockpit benchmarks
DEBUG_RUNS := debug-daemon-a debug-daemon-b debug-linux debug-programs debug-parts
SIDE_BY_SIDE := $(MAKE) --no-print-directory --jobs --keep-going --output-sync=target

# FILTER=NAME runs the tests whose identifier matches, on the debug build, which a change makes anew the fastest.
test: test-deps $(VARLINK_ENV)/ready
ifdef FILTER
	@$(MAKE) --no-print-directory debug-tests
	$(DEBUG_RUN) --filter '$(FILTER)'
else
	@mkdir -p .build && rm -f $(BGTASK_TIMES)
	@$(TIMED) build $(MAKE) --no-print-directory build-tests
	@$(TIMED) tests $(SIDE_BY_SIDE) $(RUNS:%=run-%); status=$$?; $(TABLE); exit $$status
endif

# All tests: those of `make test`, then what takes longer.
test-all: test
	@$(MAKE) --no-print-directory test-rest
	@$(MAKE) --no-print-directory test-debug

# What CI has more than `make test`.
test-rest: test-deps $(VARLINK_ENV)/ready $(VM)/version $(DEBIAN)/trixie/complete $(COCKPIT_TOOLS)/complete
	@mkdir -p .build && rm -f $(BGTASK_TIMES)
	@$(TIMED) build $(MAKE) --no-print-directory build-tests
	@rm -rf $(DEB)
	@if .ci/deps packages $(DEB_TOOLS); then $(TIMED) package $(MAKE) --no-print-directory deb; \
	else echo 'no Debian package is made; its tests are skipped, or fail in CI'; fi
	@$(TIMED) tests $(SIDE_BY_SIDE) $(REST_RUNS:%=run-%); status=$$?; $(TABLE); exit $$status

# The suites once more with what asserts more, and what the standard library checks of unsafe pointers.
test-debug: test-deps $(VARLINK_ENV)/ready
	@mkdir -p .build && rm -f $(BGTASK_TIMES)
	@$(TIMED) debug-build $(MAKE) --no-print-directory debug-tests
	@$(TIMED) tests $(SIDE_BY_SIDE) $(DEBUG_RUNS:%=run-%); status=$$?; $(TABLE); exit $$status

# The programs and all tests.
build-tests: deps
	$(SWIFT) build -c release --build-tests
	@$(MAKE) --no-print-directory stripped
	@config/strip .build/release $(BUILD)/test systemd-probe

# The same as a debug build, whose programs are tested where they are.
debug-tests: deps
	$(SWIFT) build --build-tests
	@$(MAKE) --no-print-directory completions BUILD=.build/debug

# It computes, and lets those before that wait for others.
run-parts:
	nice $(RUN) --skip '^(LinuxSystemTests|SystemTests|$(STARTING))\.'

run-linux:
	BGTASK_ALONE=1 $(RUN) --filter '^LinuxSystemTests'

# In a process two tests run at a time, and these wait; so their suites are parted by their names. Here they are about
# control groups, where there are any. What supervisors do instead is seen by run-linux and run-programs, and by
# run-supervised-a and -b.
run-daemon-a:
	BGTASK_CONTAINMENT=cgroup $(RUN) --filter '^DaemonTests\.A'

run-daemon-b:
	BGTASK_CONTAINMENT=cgroup $(RUN) --filter '^DaemonTests\.[B-N]'

run-daemon-o:
	BGTASK_CONTAINMENT=cgroup $(RUN) --filter '^DaemonTests\.[O-Z]'

run-programs:
	$(RUN) --filter '^(bgtaskctlTests|ExampleTests|ManualPageTests)\.'

# Each has a box, which its tests wait for one after the other.
run-systemd-a:
	Tests/System/own-group $@ $(RUN) --filter '^SystemTests\.SystemTests/A'

run-systemd-b:
	Tests/System/own-group $@ $(RUN) --filter '^SystemTests\.SystemTests/[B-I]'

run-systemd-j:
	Tests/System/own-group $@ $(RUN) --filter '^SystemTests\.SystemTests/[J-R]'

run-systemd-s:
	Tests/System/own-group $@ $(RUN) --filter '^SystemTests\.' --skip '^SystemTests\.SystemTests/[A-R]|^$(LONG)'

run-supervised-a:
	BGTASK_CONTAINMENT=supervisor $(RUN) --filter '^DaemonTests\.[A-L]'

run-supervised-b:
	BGTASK_CONTAINMENT=supervisor $(RUN) --filter '^DaemonTests\.[M-Z]'

run-long:
	$(RUN) --filter '^$(LONG)'

run-debug-linux:
	BGTASK_ALONE=1 $(DEBUG_RUN) --filter '^LinuxSystemTests'

run-debug-daemon-a:
	$(DEBUG_RUN) --filter '^DaemonTests\.[A-L]'

run-debug-daemon-b:
	$(DEBUG_RUN) --filter '^DaemonTests\.[M-Z]'

run-debug-programs:
	$(DEBUG_RUN) --filter '^(bgtaskctlTests|ExampleTests|ManualPageTests)\.'

run-debug-parts:
	nice $(DEBUG_RUN) --skip '^(LinuxSystemTests|SystemTests|$(STARTING))\.'

run-benchmarks:
	$(SWIFT) build --package-path Benchmarks --build-tests
	BGTASK_LABEL=benchmarks $(BOUNDED) 5 $(SWIFT) test --package-path Benchmarks --skip-build --disable-xctest

run-python:
	@$(TIMED) python $(PYTHON_TESTS)

run-metrics: $(METRICS)/complete
	@$(TIMED) metrics $(METRICS_TESTS)

run-cockpit: $(COCKPIT_TOOLS)/complete
	@$(COCKPIT_DEPS)
	@$(TIMED) cockpit $(COCKPIT_TESTS)

# The Python package against the daemon.
PYTHON_TESTS = env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=clients/python/src BGTASKD_BIN_DIR=$(CURDIR)/$(BUILD) \
    timeout 600 $(PYTHON) -m unittest discover --start-directory clients/python/tests

# What the daemon tells monitoring systems, as Prometheus and node_exporter read it, with the rules and the dashboard.
METRICS_TESTS = env PYTHONDONTWRITEBYTECODE=1 BGTASKD_BIN_DIR=$(CURDIR)/$(BUILD) METRICS_TOOLS=$(CURDIR)/$(METRICS) \
    timeout 300 $(PYTHON) -m unittest discover --start-directory Tests/Metrics

# The page for Cockpit: what of it needs no browser, then all of it in one, with a Cockpit and a daemon of its own. Where
# these packages are missing and there is no root to install them, the tests are skipped, and say so; in CI they fail.
COCKPIT_DEPS = .ci/deps packages libglib2.0-0 libgnutls30 libgssapi-krb5-2 libjson-glib-1.0-0 libpolkit-agent-1-0 \
    libssh-4 chromium chromium-driver python3-selenium nodejs || true
COCKPIT_TESTS = env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=clients/python/src:clients/python/tests \
    BGTASKD_BIN_DIR=$(CURDIR)/$(BUILD) COCKPIT_TOOLS=$(CURDIR)/$(COCKPIT_TOOLS)/root \
    timeout 600 $(PYTHON) -m unittest discover --start-directory clients/cockpit/tests

# One after the other, also with --jobs: what is tested has to be built.
BUILD_AND_RUN = @$(MAKE) --no-print-directory build && $(MAKE) --no-print-directory $(@:test-%=run-%)

test-python: test-deps
	$(BUILD_AND_RUN)

test-metrics: test-deps
	$(BUILD_AND_RUN)

test-cockpit: test-deps
	$(BUILD_AND_RUN)

# The tests with those that take many minutes at their full length.
test-long:
	BGTASK_LONG=1 $(MAKE) test-all

# CONTAINMENT=cgroup or supervisor chooses how the demo's processes are kept together.
demo: deps
	@.ci/deps packages python3
	@echo 'building bgtaskd; the first time takes some minutes'
	@mkdir -p .build
	@$(MAKE) --no-print-directory build >.build/demo.log 2>&1 || { cat .build/demo.log >&2; exit 1; }
	@Examples/demo --containment $(or $(CONTAINMENT),auto)

# Feeds what reads others' bytes with mutants (libFuzzer, with AddressSanitizer): FUZZ_RUNS= inputs for each of
# FUZZ_TARGETS=, and FUZZ_SLOW_RUNS= for those where an input is some hundred calls (`calls`) or is read some times
# over (`settings`). Ends with what was found, which lies in .build/fuzz/crashes; inputs that reach something new
# are kept in .build/fuzz/corpus.
FUZZ_RUNS ?= 2500000
FUZZ_SLOW_RUNS ?= 20000
FUZZ_SLOW_TARGETS := calls settings
FUZZ_TARGETS ?= calls frames json notices parameters settings
FUZZ := .build/fuzz
FUZZ_FLAGS := -sanitize=fuzzer,address

fuzz: deps
	BGTASKD_FUZZ=1 $(SWIFT) build -c release --scratch-path $(FUZZ) --product FuzzEntry \
	    -Xswiftc $(FUZZ_FLAGS)
	$(SWIFTC) $(FUZZ_FLAGS) -use-ld=lld -o $(FUZZ)/fuzz \
	    -Xlinker --whole-archive $(FUZZ)/release/libFuzzEntry.a -Xlinker --no-whole-archive -lsqlite3
	for target in $(FUZZ_TARGETS); do \
	    mkdir -p $(FUZZ)/corpus/$$target $(FUZZ)/crashes; \
	    case " $(FUZZ_SLOW_TARGETS) " in \
	        *" $$target "*) runs=$(FUZZ_SLOW_RUNS) ;; \
	        *) runs=$(FUZZ_RUNS) ;; \
	    esac; \
	    FUZZ_TARGET=$$target $(FUZZ)/fuzz -runs=$$runs -max_len=4096 -timeout=10 \
	        -rss_limit_mb=2048 -report_slow_units=1 -print_final_stats=1 \
	        -artifact_prefix=$(FUZZ)/crashes/$$target- \
	        $(FUZZ)/corpus/$$target Tests/FuzzTests/Corpus/$$target || exit 1; \
	done

# Calls a running daemon for MINUTES= minutes in each of both containments as an ordinary user: every field of
# every method at its extremes, then random sequences, with kills and restarts between. CONTAINMENT= as for the
# demo. `make test` does so for a short time.
fuzz-live: test-deps
	$(SWIFT) build
	Tests/System/fuzz-live --seconds $$(( $(or $(MINUTES),10) * 60 )) \
	    --containment $(or $(CONTAINMENT),both) $(if $(SEED),--seed $(SEED))

# The tests with AddressSanitizer, then with ThreadSanitizer; each has a build of its own. Memory is not
# bounded then as it is otherwise, and a tenth of the seeds is gone through, which the tests know by
# BGTASK_SANITIZED. The program that stands for commands is the usual one: what it does between clone
# or vfork and execve is nothing for a sanitizer's run-time library.
SANITIZERS ?= address thread
UNSANITIZED := process-test-child

sanitize: test-deps $(VARLINK_ENV)/ready
	for program in $(UNSANITIZED); do $(SWIFT) build --product $$program || exit 1; done
	for sanitizer in $(SANITIZERS); do \
	    export BGTASK_SANITIZED=$$sanitizer BGTASK_ALONE=1; \
	    build=".build/$$sanitizer"; \
	    $(SWIFT) build --build-tests --sanitize=$$sanitizer --scratch-path $$build || exit 1; \
	    for program in $(UNSANITIZED); do cp .build/debug/$$program $$build/debug/ || exit 1; done; \
	    $(MAKE) --no-print-directory completions BUILD=$$build/debug || exit 1; \
	    for only in '--filter ^LinuxSystemTests' '--skip ^LinuxSystemTests'; do \
	        $(SWIFT) test --skip-build --disable-xctest --sanitize=$$sanitizer \
	            --scratch-path $$build $$only || exit 1; \
	    done; \
	done

# Kills the daemon KILLS= times under a load of submissions, and looks for what it promised; CONTAINMENT= as
# for the demo. With EXECUTOR=daemon, executor or both a bgtask-executor runs the commands, and that is killed. `make
# test` does so a few times.
torture: test-deps
	$(SWIFT) build
	Tests/System/torture --kills $(or $(KILLS),200) --containment $(or $(CONTAINMENT),auto) \
	    $(if $(EXECUTOR),--executor $(EXECUTOR)) $(if $(SEED),--seed $(SEED))

# The same with a virtual machine whose power is cut CUTS= times; takes about 40 seconds each. Needs root. With
# EXECUTOR=1 commands run in a bgtask-executor there.
torture-vm: test-deps $(VM)/version
	$(SWIFT) build
	Tests/System/torture-vm --cuts $(or $(CUTS),20) $(if $(EXECUTOR),--executor) $(if $(SEED),--seed $(SEED))

# Measures bgtaskd against its peers, row after row of what it promises: about a minute a row. BENCH= takes what
# Benchmarks/bench does: make bench BENCH='--rows begin-end --rounds 3', or BENCH=--list. Nothing else should
# run meanwhile.
bench:
	@echo 'building bgtaskd and the load generator'
	@mkdir -p .build
	@{ $(MAKE) --no-print-directory build microbenchmark && \
	    $(SWIFT) build --package-path Benchmarks -c release --static-swift-stdlib; \
	} >.build/bench.log 2>&1 || { cat .build/bench.log >&2; exit 1; }
	@Benchmarks/deps
	@Benchmarks/bench $(BENCH)

# The daemon's parts alone, to be measured.
microbenchmark: deps
	BGTASKD_MEASURED=1 $(SWIFT) build -c release --product $@

# Counts what a begin and end, and reading calls, cost in instructions and allocations, and fails where that is
# more than 5 % away from what Tests/InstructionCount has recorded. RECORD=yes records it anew.
instruction-counts: microbenchmark
	@.ci/deps packages python3 valgrind || true
	@SWIFT='$(SWIFT)' Tests/InstructionCount/check $(if $(RECORD),--record)

format:
	$(SWIFT) format -i -r $(SWIFT_FILES)

lint:
	$(SWIFT) format lint --strict -r $(SWIFT_FILES)

# Installs the Debian packages that a build lacks, with root or sudo.
deps:
	@.ci/deps build

# These, and those that the tests lack.
test-deps:
	@.ci/deps tests

$(VARLINK_ENV)/ready: | test-deps
	$(PYTHON) -m venv $(VARLINK_ENV)
	$(VARLINK_ENV)/bin/pip install --quiet --disable-pip-version-check varlink==$(VARLINK_VERSION)
	touch $@

# Without it, which needs root, the tests on another Debian are skipped, and say so.
$(DEBIAN)/%/complete: Tests/System/debian-root | test-deps
	@.ci/deps packages mmdebstrap || true
	@echo 'getting a Debian $* for the tests'
	@rm -rf $(DEBIAN)/$*
	@Tests/System/debian-root $* $(DEBIAN)/$* || true

# Without it the tests with Prometheus are skipped, and say so.
$(METRICS)/complete: .ci/unpack | test-deps
	@.ci/unpack $(METRICS) prometheus prometheus-node-exporter python3-prometheus-client python3-decorator \
	    || true

# Cockpit is not installed: that would open a port on this machine.
$(COCKPIT_TOOLS)/complete: .ci/unpack | test-deps
	@.ci/unpack $(COCKPIT_TOOLS) cockpit-bridge cockpit-ws || true

# Without it the tests in a virtual machine are skipped, and say so.
$(VM)/version: Tests/System/vm-prepare | test-deps
	@echo 'getting a kernel for the tests in a virtual machine'
	@Tests/System/vm-prepare $(VM) || true
