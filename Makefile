# One command each: up, agents, bundles, install, check, test, test-all, coverage, fuzz, lint, format, protobuf, golden,
# bench, screenshots, requirements, wheels, interpreters, clean. docs/development/testing.md says which tests are in check, test and test-all.
.DELETE_ON_ERROR:
.PHONY: up agents bundles install check test test-all coverage fuzz lint lint-types lint-agent-types lint-rest format protobuf golden bench translations screenshots requirements wheels interpreters clean

PYTHON ?= python3
BIN := .venv/bin
STAMPS := .stamps
CYTHON_SOURCES := $(shell find profiles/engine -name '*.pyx' -o -name '*.pxd')
SOURCES := $(CYTHON_SOURCES) setup.py pyproject.toml client/pyproject.toml
BROWSER_SOURCES := '**/*.{js,css}' 'agents/node/**/*.ts'
TEMPLATES := frontend projects
AGENT_SOURCES := $(shell find agents/python -type f \( -name '*.py' -o -name '*.[ch]' -o -name '*.toml' \) -not -path '*/build/*' 2>/dev/null)

# Go is often installed in a folder of its own.
GO_TOOLS := PATH="$$PATH:/usr/local/go/bin"

# The server with its demo, on http://127.0.0.1:8000 (another: make up PORT=8001).
PORT ?= 8000

up: install
	@exec $(BIN)/flamewatch up --demo --port $(PORT)

agents: dist/agents/.built

install: $(STAMPS)/server $(STAMPS)/agent

$(STAMPS)/venv: requirements/server.txt
	@sh requirements/preflight.sh $(PYTHON)
	@echo "Making the environment in .venv (about a minute, once)."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/server.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/server: $(STAMPS)/venv $(SOURCES)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall -e client
	@touch $@

# The Python agent's sdist and wheel, and the packed Go and Node.js agents, which the server serves: they are on no
# index yet.
dist/agents/.built: $(STAMPS)/venv $(AGENT_SOURCES) $(wildcard agents/go/* agents/node/* agents/node/lib/* agents/java/pom.xml agents/java/src/main/java/dev/flamewatch/agent/*) $(wildcard tools/*.py)
	@$(BIN)/python -m tools.agent_dist
	@touch $@

$(STAMPS)/agent: dist/agents/.built
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall --find-links dist/agents flamewatch-agent
	@touch $@

$(STAMPS)/dev: $(STAMPS)/server $(STAMPS)/agent requirements/dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# The types of the browser's modules are checked by TypeScript, and Rolldown bundles them; the server needs neither.
$(STAMPS)/node: package.json package-lock.json
	@command -v npm >/dev/null || { echo "The checks of JavaScript need Node.js: apt install nodejs npm"; exit 1; }
	@npm ci --silent --no-audit --no-fund
	@mkdir -p $(STAMPS) && touch $@

# The browser's modules in the files that pages load, which are part of the repository: after a change of a module.
bundles: $(STAMPS)/node
	@node tools/bundle.mjs

# Fast, for every commit: lint, and all tests that need neither a server process nor a browser nor PostgreSQL.
check: $(STAMPS)/dev
	@$(BIN)/python -m tests.services
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m tests.run check

# Everything that a change can break.
test: $(STAMPS)/dev
	@$(BIN)/python -m tests.services
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m tests.run test

# Additionally every interpreter, sanitizers, fuzzing and storms.
test-all: $(STAMPS)/dev
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/fuzz.txt || \
		echo "atheris cannot be installed (above): the fuzz targets run without coverage." >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/contract.txt
	@$(BIN)/python -m tests.services --nightly
	@$(BIN)/python agents/python/tests/interpreters.py --for-tests
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m tests.run test-all

# Branch coverage of each app by the tests of `make check`.
coverage: $(STAMPS)/dev
	@$(BIN)/python -m tests.branch_coverage

# All of them, or some: make bench ONLY="decode queries".
bench: $(STAMPS)/dev
	@$(BIN)/python -m benchmarks $(ONLY)

# Fuzz the readers of foreign bytes: all, or some: make fuzz ONLY="pprof block" RUNS=1000000.
fuzz: $(STAMPS)/dev
	@$(BIN)/python -m tests.fuzz $(ONLY) --runs $(or $(RUNS),100000)

lint: $(STAMPS)/dev $(STAMPS)/node
	@$(MAKE) --no-print-directory --jobs=2 lint-types lint-agent-types lint-rest

lint-types:
	@$(BIN)/mypy .

lint-agent-types:
	@cd agents/python && ../../$(BIN)/mypy src

lint-rest:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint --max-line-length 100 $(CYTHON_SOURCES)
	@node_modules/.bin/prettier --check --log-level warn $(BROWSER_SOURCES)
	@$(BIN)/clang-format --dry-run --Werror $(filter %.c %.h,$(AGENT_SOURCES))
	@$(BIN)/djlint --quiet --check $(TEMPLATES) || { $(BIN)/djlint --check $(TEMPLATES); exit 1; }
	@$(BIN)/djlint --quiet --lint $(TEMPLATES)
	@$(BIN)/python -m tools.language_lint
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@node_modules/.bin/tsc -p tsconfig.json
	@node_modules/.bin/tsc -p agents/node
	@$(GO_TOOLS); cd agents/go && unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	@$(GO_TOOLS); cd agents/go && go vet ./...

# Format Python with Ruff, Cython's strings with cython-lint and templates with djLint (both exit with 1 after a change),
# JavaScript and CSS with Prettier, and the agent's C with clang-format.
format: $(STAMPS)/dev $(STAMPS)/node
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/double-quote-cython-strings $(CYTHON_SOURCES) || $(BIN)/double-quote-cython-strings $(CYTHON_SOURCES)
	@$(BIN)/djlint --quiet --reformat $(TEMPLATES) || $(BIN)/djlint --quiet --reformat $(TEMPLATES)
	@node_modules/.bin/prettier --write --log-level warn $(BROWSER_SOURCES)
	@$(BIN)/clang-format -i $(filter %.c %.h,$(AGENT_SOURCES))
	@$(GO_TOOLS); gofmt -w agents/go

# Python classes of protobuf messages, which are part of the repository: after a change of a .proto file.
PROTO := ingest/cloud_profiler/proto
PROTO_PACKAGE := google/devtools/cloudprofiler/v2
QUERY_PROTO := api/pyroscope/proto

protobuf: $(STAMPS)/dev
	@mkdir -p $(STAMPS)/protobuf
	@$(BIN)/python -m grpc_tools.protoc -I$(PROTO_PACKAGE)=$(PROTO) --python_out=$(STAMPS)/protobuf --pyi_out=$(STAMPS)/protobuf $(PROTO_PACKAGE)/profiler.proto
	@mv $(STAMPS)/protobuf/$(PROTO_PACKAGE)/profiler_pb2.py $(STAMPS)/protobuf/$(PROTO_PACKAGE)/profiler_pb2.pyi $(PROTO)
	@$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. $(QUERY_PROTO)/querier.proto $(QUERY_PROTO)/pprof.proto

# What `go tool pprof` says of our sample profiles, for the tests to compare with; needs Go, as the tests' S3 server does.
golden: $(STAMPS)/dev
	@$(BIN)/python -m tests.golden.make

# A wheel of the agent for each platform (glibc and musl, x86-64 and aarch64), in dist/agents, for a release: a minute,
# and a compiler of 100 MB. Where that cannot be had, the wheel of this machine alone, as `make install` builds it.
wheels: $(STAMPS)/venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/wheels.txt || \
		echo "The cross compiler cannot be installed (above)." >&2
	@$(BIN)/python -m tools.agent_dist --all-platforms
	@touch dist/agents/.built
	@ls dist/agents

# CPython 3.14 and 3.15 and a debug build for the agent's tests, which then run on them too: what Debian's
# unstable suite has of them today. As root; a minute, 450 MB. `make test-all` fetches them where they are
# missing, and does without where they cannot be had.
interpreters: $(STAMPS)/venv
	@$(BIN)/python agents/python/tests/interpreters.py

# Translated texts of templates and Python: extract new ones into the catalogs, and compile them. Needs gettext.
LOCALES = --locale=es --locale=zh_Hans
translations: $(STAMPS)/dev
	@$(BIN)/python manage.py makemessages $(LOCALES) --no-location --no-wrap --no-obsolete \
		--ignore='tests/*' --ignore='agents/python/*' --ignore='benchmarks/*' --ignore='node_modules/*' --ignore='build/*' --ignore='data/*'
	@$(BIN)/python manage.py compilemessages $(LOCALES) --ignore=.venv

# Pictures of every page, in docs/screenshots.
screenshots: $(STAMPS)/dev
	@$(BIN)/python -m tests.screenshots

requirements: $(STAMPS)/dev
	@for name in server dev wheels fuzz contract; do $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
		--generate-hashes --no-emit-index-url --custom-compile-command "make requirements" \
		requirements/$$name.in -o requirements/$$name.txt; done

clean:
	rm -rf .venv node_modules $(STAMPS) build dist *.egg-info data
	find profiles/engine -name '*.so' -delete

# The container image, built and started without a container engine: as root on Debian, some minutes.
.PHONY: container-check
container-check: $(STAMPS)/dev
	@$(BIN)/python -m tests.container.check
