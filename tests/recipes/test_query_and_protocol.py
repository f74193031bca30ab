"""Recipes of a query, an agent's protocol and a measurement, followed in a copy."""

import re

import pytest

from tests.recipes.scratch_copy import ScratchCopy

pytestmark = pytest.mark.slow


QUERY = '''"""Perches: call tree nodes whose own value reaches a number."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings

from profiles.engine.accumulators.merge import Merge
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import CachedQuery, SelectionQuery
from profiles.queries.result_codec import encodable
from profiles.queries.scan import Plan, add_profiles, explain_errors
from profiles.queries.selection import Selection, View


@dataclass(frozen=True, slots=True)
class BirdsResult:
    selection: Selection
    metric: Metric
    coverage: Coverage
    perches: int


def run_birds(
    context: QueryContext, selection: Selection, view: View, *, volume: int
) -> BirdsResult:
    metric, _, sums = _BirdsMerge(selection, view, volume).run(context)
    return BirdsResult(selection, metric, sums.coverage, sums.perches)


@encodable
class BirdSums(NamedTuple):
    perches: int
    coverage: Coverage


@dataclass(frozen=True)
class _BirdsMerge(SelectionQuery[BirdSums], CachedQuery[Plan, BirdSums]):
    selection: Selection
    view: View
    volume: int

    @property
    def cache_key(self) -> Hashable:
        return self.volume

    def accumulate(self, context: QueryContext, plan: Plan, metric: Metric) -> BirdSums:
        with explain_errors():
            most, profile_type = settings.MAX_QUERY_NODES, plan.selection.type
            merge = Merge([metric], True, most, profile_type, context.check)
            coverage = add_profiles(context, plan, metric, merge)
            own = merge.tree().self[0]
        context.check()
        return BirdSums(int((own >= self.volume).sum()), coverage)

    def count_numbers(self, result: BirdSums) -> int:
        return 1

    def is_readable(self, result: BirdSums) -> bool:
        return result.coverage.is_readable


def birds_document(result: BirdsResult) -> dict[str, Any]:
    return {"metric": result.metric._asdict(), "perches": result.perches}
'''
ROW = """    "birds": ValueQuery(
        run_birds,
        birds_document,
        {"volume": Parameter("volume", "Lowest own value", partial(values.count, most=10**9), 1)},
    ),
"""
SECTION = """## `birds`

```text
GET /api/v1/projects/{project}/birds
```

| parameter | meaning |
| --- | --- |
| `volume` | Lowest own value |

```sh
curl -G "$FLAMEWATCH/api/v1/projects/-/birds" -H "Authorization: Bearer $KEY" \\
  --data-urlencode service=shop --data-urlencode type=CPU --data-urlencode volume=2000
```

"""
QUERY_TEST = """
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from profiles.models import Profile
from profiles.query import ProfileSelection, View, run_birds
from projects.models import Deployment
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.queries.compaction_stages import STAGES, compact_to

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("stage", STAGES)
def test_perches_are_those_of_the_summed_stacks_in_every_form_of_storage(
    stage: str, selection: ProfileSelection, shop: Deployment
) -> None:
    summed = Counter()
    for number in range(90):
        stacks = {"main": 1, "main;a": number % 7, "main;a;b": number % 5}
        rows.stored(shop, stacks, minutes=32 * number, name_id=f"p{number:03}")
        summed.update(stacks)
    compact_to(shop.project, stage)
    whole = replace(selection, end=rows.NOON + timedelta(days=3))
    for volume in (1, *(1000 * value + more for value in summed.values() for more in (0, 1))):
        result = run_birds(query_context(whole), whole, View(), volume=volume)
        assert result.perches == sum(1000 * value >= volume for value in summed.values())
        assert result.coverage.profiles == 90


def test_unreadable_profile_is_missing(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop, minutes=1)
    rows.stored(shop, minutes=2, name_id="broken")
    Profile.objects.filter(name_id="broken").update(tree=b"no tree")
    result = run_birds(query_context(selection), selection, View(), volume=1)
    assert (result.perches, result.coverage.profiles) == (5, 1)
    assert len(result.coverage.missing) == 1
"""
DEADLINE = """    "birds": lambda of, until: run_birds(
        query_context(of, until), of, View(), volume=1
    ),
"""


def test_query_is_one_module_an_export_and_a_row(copy: ScratchCopy) -> None:
    copy.write("profiles/queries/reports/birds.py", QUERY)
    names = "BirdsResult, birds_document, run_birds"
    statement = f"from profiles.queries.reports.birds import {names}\n"
    export = "profiles/query.py"
    copy.insert(export, statement, after="from profiles.queries.query_workers import")
    copy.insert(export, '    "BirdsResult",\n', after='    "BadFilterPattern",')
    copy.insert(export, '    "birds_document",\n', after='    "ViewFilter",')
    copy.insert(export, '    "run_birds",\n', after='    "preview",')
    table = "api/resources/value_queries.py"
    copy.insert(table, "    birds_document,\n", after="    Selection,")
    copy.insert(table, "    run_birds,\n", after="    matcher,")
    copy.insert(table, ROW, after="VALUE_QUERIES: Mapping")
    new = "profiles/queries/reports/birds.py"
    assert copy.changed_code == {new, export, table}
    copy.lint()

    documentation = "endpoint or every_parameter or every_address"
    tests = ("tests/test_docs.py", "tests/api/test_docs.py")
    output = copy.test(*tests, "-k", documentation, "--no-migrations", is_ok=False)
    assert "3 failed" in output
    assert "## `birds`" in output
    assert "{'volume'}" in output
    copy.replace("docs/reference/api.md", "## `profiles`\n", f"{SECTION}## `profiles`\n")

    copy.write("tests/profiles/queries/test_birds.py", QUERY_TEST)
    deadlines = "tests/profiles/queries/test_deadlines.py"
    copy.insert(deadlines, "    run_birds,\n", after="    ViewFilter,")
    copy.insert(deadlines, DEADLINE, after="QUERIES: dict[")
    added = ("tests/test_imports.py", "tests/profiles/queries/test_birds.py", deadlines)
    copy.test(*tests, *added, "-k", f"birds or contracts or {documentation}", "--no-migrations")


MESSAGE = '''"""Messages of parrots: a line of labels, then lines of `COUNT STACK`."""

from ingest.formats.import_options import choose_metric
from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pprof_builder import Frame, ProfileBuilder
from ingest.formats.work_budget import Work, WorkBudget
from profiles.engine.errors import BadProfile
from projects.profile_types import ProfileType


def read_message(raw: bytes) -> tuple[dict[str, str], ImportedProfile]:
    """Return the labels and the profile of a message. Raise BadProfile or TooLarge."""
    budget = WorkBudget(len(raw))
    builder = ProfileBuilder([choose_metric(ProfileType.CPU)[0]], budget)
    try:
        head, *lines = raw.decode().split("\\n")
    except UnicodeDecodeError as error:
        raise BadProfile(f"Byte {error.start} is no UTF-8.") from None
    for number, line in enumerate(lines, 2):
        count, _, stack = line.partition(" ")
        if not (count.isascii() and count.isdecimal() and len(count) < 10):
            raise BadProfile(f"Line {number} has no count.")
        names = stack.split(";")
        budget.spend(Work.FRAMES, len(names))
        builder.add([builder.location(Frame(name)) for name in reversed(names)], [int(count)])
    if builder.is_empty:
        raise BadProfile("The message has no stacks.")
    labels = dict(pair.split("=", 1) for pair in head.split(",") if "=" in pair)
    return labels, ImportedProfile(ProfileType.CPU, builder.build(), duration_ns=10**10)
'''
ENDPOINT = '''"""ASGI endpoint of parrots: `POST /parrots`."""

from django.conf import settings

from common.asgi import Receive, Scope, Send
from common.request_body import Disconnected
from endpoints import credentials
from endpoints.errors import BadRequest
from endpoints.plain_asgi import IncomingRequest, send_error, send_response
from ingest.imports.labels import LabelRules, map_labels
from ingest.parrots.message import read_message
from ingest.uploads import conversion_pool
from ingest.uploads.pipeline import store_import
from ingest.uploads.requests import UploadRequest, read_body
from ingest.uploads.upload_budget import process_budget

PATH = "/parrots"


async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    incoming = IncomingRequest(receive)
    try:
        request = UploadRequest.from_scope(scope, incoming)
        request.require_method("POST")
        name = await _store(request)
        await send_response(send, 200, {"Content-Type": "text/plain"}, name.encode())
    except Disconnected:
        return
    except Exception as error:
        await send_error(incoming.delay_end(send), error)


async def _store(request: UploadRequest) -> str:
    access = await request.authenticate()
    credentials.require_write(access)
    with process_budget.account(access.project) as account:
        body = await read_body(request, account, settings.MAX_UPLOAD_BYTES)
        labels, profile = await conversion_pool.convert(access.project, read_message, body)
        account.charge(len(profile.pprof))
        mapped = map_labels(labels, LabelRules.from_settings(), access.default_service)
        if mapped is None:
            raise BadRequest("The message names no service.")
        agent = request.describe_agent(access, frozenset({profile.type}))
        stored = await store_import(access, agent, mapped.deployment, mapped.labels, profile)
        return stored.profile.name_id
'''
ROUTE = """    _route(
        parrots.PATH.__eq__, measure_uploads(Protocol.PARROTS, parrots.endpoint), of_programs=True
    ),
"""
FUZZ = '''"""Messages of parrots."""

from ingest.parrots.message import read_message
from profiles.engine.errors import BadProfile, TooLarge
from tests.fuzz.cost import CostBound
from tests.fuzz.fuzz_target import FuzzTarget


def read(body: bytes) -> None:
    assert read_message(body) == read_message(body)


def messages() -> list[bytes]:
    return [b"service=aviary\\n3 main;polly\\n4 main"]


TARGETS = (
    FuzzTarget("parrots", read, (BadProfile, TooLarge), messages, (b";", b"\\n"), cost=CostBound()),
)
'''
PROTOCOL_TEST = """
import pytest

from profiles.models import Profile
from projects.models import Project, Quota
from tests.ingest.client import Client

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGE = b"service_name=aviary,version=2,instance=a\\n3 main;polly\\n4 main"


def send(client: Client, body: bytes = MESSAGE) -> int:
    return client.request("POST", "/parrots", content=body).status_code


def test_profile_is_stored_once_with_its_deployment_and_labels(agent: Client) -> None:
    assert [send(agent), send(agent)] == [200, 200]
    row = Profile.objects.select_related("deployment", "agent").get()
    assert (row.service, row.type, row.weight) == ("aviary", "CPU", 7)
    assert (row.deployment.version, row.labels) == ("2", {"instance": "a"})
    assert row.agent is not None


def test_errors_have_their_status(agent: Client, reader: Client, project: Project) -> None:
    assert send(Client("acme-shop", "no key")) == 401
    assert send(reader) == 403
    assert send(agent, b"service_name=aviary\\nx polly") == 400
    assert send(agent, b"\\n1 polly") == 400
    assert agent.request("GET", "/parrots").status_code == 405
    Quota.objects.create(project=project, profiles_per_day=0)
    assert send(agent) == 429
    assert not Profile.objects.exists()
"""


def test_protocol_is_an_endpoint_a_message_a_route_and_a_row(copy: ScratchCopy) -> None:
    copy.write("ingest/parrots/message.py", MESSAGE)
    copy.write("ingest/parrots/endpoint.py", ENDPOINT)
    pool = "ingest/uploads/decode_worker_start.py"
    preload = "from ingest.parrots import message as _parrots  # noqa: F401\n"
    copy.insert(pool, preload, after="from ingest.formats.otlp import json_encoding")
    asgi = "profiler_site/asgi.py"
    statement = "from ingest.parrots import endpoint as parrots  # noqa: E402\n"
    copy.insert(asgi, statement, after="from ingest.otlp import endpoint as otlp")
    copy.insert(asgi, ROUTE, after="_route(discovery.PATH.__eq__")
    metrics = "ingest/uploads/upload_metrics.py"
    copy.insert(metrics, '    PARROTS = "parrots"\n', after="    OTLP_GRPC = ")
    new = {"ingest/parrots/message.py", "ingest/parrots/endpoint.py"}
    assert copy.changed_code == {*new, pool, asgi, metrics}
    copy.lint()

    counted = "tests/ingest/uploads/test_upload_metrics.py"
    output = copy.test(counted, "-k", "every_protocol", "--no-migrations", is_ok=False)
    assert "parrots" in output
    copy.insert(counted, '    "parrots": "/parrots",\n', after="PATHS: Mapping[")
    copy.write("tests/fuzz/targets/parrots.py", FUZZ)
    targets = "tests/fuzz/targets/__init__.py"
    copy.insert(targets, "    parrots,\n", after="    parameters,")
    copy.replace(targets, "(pprofs, storage,", "(parrots, pprofs, storage,")
    copy.insert("tests/fuzz/target_names.py", '    "parrots": 1,\n', after="SHARES: ")
    copy.write("tests/ingest/parrots/test_http.py", PROTOCOL_TEST)
    tests = ("tests/ingest/parrots", "tests/fuzz/test_targets.py", "tests/test_imports.py", counted)
    copy.test(*tests, "-k", "parrots or names or contracts or every_protocol", "--no-migrations")


def test_measurement_prints_a_table_beside_a_limit_and_a_peer(copy: ScratchCopy) -> None:
    output = copy.make("bench", "ONLY=decode", may_fail=True)  # on a busy machine it misses limits
    title, *figures = output.strip().splitlines()
    assert title.startswith("Decode: a Go CPU profile of ")
    assert [line.split("  ")[1] for line in figures][:3] == [
        "gunzip",
        "decode",
        "gunzip and decode",
    ]
    assert all(re.search(r" \d+(\.\d+)? (ms CPU|kB)", line) for line in figures), output
    assert "at most 1 ms CPU" in output
    assert "protobuf and a Python loop: " in output
