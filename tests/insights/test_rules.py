"""Every rule: frames that it names, frames that only look like them, texts and documentation."""

import pytest

from insights.catalog import RULES
from insights.rule import WasteRule
from profiles.engine.calltree.pattern_costs import pattern_costs
from tests.paths import ROOT
from tests.profiles.engine.random_trees import tree_of

_LOOP = "asyncio.events.Handle._run"
# WasteRule → (stack that shows it, stack that must not), the root first.
STACKS: dict[str, tuple[str, str]] = {
    "python-regex-compile": (
        "main;re.compile;re._compile;re._compiler.compile",
        "main;shop.compile",
    ),
    "python-json": ("main;json.dumps;json.encoder.JSONEncoder.encode", "main;shop.json.dumps"),
    "python-deepcopy": ("main;copy.deepcopy;copy._deepcopy_dict", "main;copy.copy"),
    "python-date-parsing": (
        "main;dateutil.parser._parser.parse",
        "main;datetime.datetime.fromisoformat",
    ),
    "python-logging": ("main;logging.Logger.info;logging.Logger._log", "main;shop.Logger.info"),
    "python-exceptions": ("main;traceback.format_exc", "main;shop.traceback"),
    "python-import": (
        "gunicorn.workers.sync.SyncWorker.handle;shop.view;importlib._bootstrap._find_and_load",
        "<module>;shop.start;importlib._bootstrap._find_and_load",
    ),
    "python-blocking-in-async": (
        f"main;{_LOOP};shop.view;requests.api.get",
        "main;shop.view;requests.api.get",
    ),
    "python-tls-handshake": ("main;ssl.SSLSocket.do_handshake", "main;ssl.SSLSocket.read"),
    "python-django-orm": (
        "main;django.db.models.query.ModelIterable.__iter__",
        "main;django.db.models.query.ValuesListIterable.__iter__",
    ),
    "python-django-lazy-relations": (
        "main;django.db.models.fields.related_descriptors.ForwardManyToOneDescriptor.__get__",
        "main;django.db.models.fields.related_descriptors.create_reverse_many_to_one_manager",
    ),
    "python-sqlalchemy-orm": (
        "main;sqlalchemy.orm.loading._instance_processor.<locals>._instance",
        "main;sqlalchemy.orm.loading.instances.<locals>.chunks",
    ),
    "python-sqlalchemy-lazy-relations": (
        "main;sqlalchemy.orm.strategies.LazyLoader._load_for_state",
        "main;sqlalchemy.orm.strategies.SelectInLoader._load_for_path",
    ),
    "python-logging-lock": (
        "main;logging.Logger.info;logging.Handler.handle;logging.Handler.acquire",
        "main;shop.Handler.acquire",
    ),
    "python-lock-waits": ("main;shop.update", "main;queue.Queue.get;threading.Condition.wait"),
    "python-gil-waits": ("main;shop.price;(waiting for the GIL)", "main;shop.wait_for_the_gil"),
    "python-connection-pool": (
        "main;sqlalchemy.pool.impl.QueuePool._do_get",
        "main;sqlalchemy.pool.base.Pool.connect",
    ),
    "python-template-compile": (
        "main;jinja2.environment.Environment.compile",
        "main;jinja2.environment.Template.render",
    ),
    "go-gc": ("runtime.gcBgMarkWorker;runtime.gcDrain", "main.main;main.gcStart"),
    "go-allocation": ("main.main;runtime.newobject;runtime.mallocgc", "main.main;runtime.memmove"),
    "go-map-growth": (
        "main.main;runtime.mapassign;internal/runtime/maps.(*table).grow",
        "main.main;internal/runtime/maps.(*Map).growToSmall",
    ),
    "go-json-reflection": ("main.main;encoding/json.Unmarshal", "main.main;shop/json.Unmarshal"),
    "go-regexp-compile": ("main.main;regexp.MustCompile", "main.main;regexp.(*Regexp).MatchString"),
    "go-memmove": ("main.main;runtime.growslice;runtime.memmove", "main.main;main.memmove"),
    "go-defer": ("main.main;runtime.deferproc", "main.main;runtime.deferreturn"),
    "go-tls-handshake": (
        "net/http.(*Transport).dialConn;crypto/tls.(*Conn).handshakeContext",
        "main.main;crypto/tls.(*Conn).Write",
    ),
    "go-reflect-fmt": ("main.main;fmt.Sprintf", "main.main;strconv.Itoa"),
    "go-lock-waits": ("main.main;sync.(*Mutex).Unlock", "main.main;sync.(*Once).Do"),
    "go-buffer-growth": (
        "main.main;bytes.(*Buffer).WriteString;bytes.(*Buffer).grow;bytes.growSlice",
        "main.main;bytes.(*Buffer).Grow;bytes.(*Buffer).grow",
    ),
    "java-regex-compile": (
        "shop.Main.main;java.lang.String.matches;java.util.regex.Pattern.compile",
        "shop.Main.main;java.util.regex.Pattern.matcher",
    ),
    "java-exceptions": (
        "shop.Main.main;shop.Cart$EmptyException.<init>",
        "shop.ExceptionTable.<init>;java.lang.Throwable.getMessage",
    ),
    "java-string-format": (
        "shop.Main.main;java.lang.String.format;java.util.Formatter.format",
        "shop.Main.main;shop.Formatter.format",
    ),
    "java-date-format": (
        "shop.Main.main;java.text.SimpleDateFormat.<init>",
        "shop.Main.main;java.text.SimpleDateFormat.format",
    ),
    "node-gc": ("(garbage collector)", "(root);collect"),
    "node-sync-files": ("handle;readFileSync", "handle;writeSync"),
    "node-sync-crypto": ("handle;pbkdf2Sync", "handle;pbkdf2"),
    "node-sync-zlib": ("handle;zlibBufferSync;processChunkSync", "handle;processCallback"),
}


def test_every_rule_has_stacks() -> None:
    assert STACKS.keys() == {rule.id for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_counts_its_frames_and_no_similar_ones(rule: WasteRule) -> None:
    shown, other = STACKS[rule.id]
    tree = tree_of({shown: 30, other: 70})
    [cost] = pattern_costs(tree, [rule.pattern])
    assert cost.total == 30
    assert cost.stack[-1] in shown.split(";")


def test_ids_are_unique_and_name_the_language() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    prefixes = {"Python": "python-", "Go": "go-", "Java": "java-", "Node.js": "node-"}
    assert all(rule.id.startswith(prefixes[rule.language.value]) for rule in RULES)


def test_documentation_lists_every_rule_with_its_least_share() -> None:
    text = (ROOT / "docs/guide/insights.md").read_text()
    rows = {line.split("|")[1].strip(" `"): line for line in text.splitlines() if "| `" in line}
    assert rows.keys() == {rule.id for rule in RULES}
    for rule in RULES:
        assert f"| {rule.min_share:.0%}" in rows[rule.id]
        assert f"| {rule.title} |" in rows[rule.id]
