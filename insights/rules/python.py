"""Rules for Python; functions have the qualified names that the agents report."""

from django.utils.translation import gettext_lazy as _

from insights.rule import CPU_OR_WALL, LOCK_WAITS, WAITING_RATE, WALL, Language, WasteRule
from profiles.query import FramePattern

# Waits for work and for the end of threads, the locks of logging, and stacks of other languages.
_NO_PYTHON_LOCK = (
    r"/^threading\.(Condition|Event|Barrier|Semaphore|BoundedSemaphore)\."
    r"|^threading\.Thread\.(join|_wait_for_tstate_lock)$|^logging\.Handler\."
    r"|^sync\.\(\*|^runtime\.|^(java|javax|jdk)\./"
)
_EVENT_LOOP = r"/(^|\.)Handle\._run$|^uvloop\b/"
# Not the start of a program, which imports its modules.
_HANDLER = (
    r"/(^|\.)Handle\._run$|^threading\.Thread\._bootstrap|(^|\.)(WSGIHandler|ASGIHandler)\.__call__$"
    r"|^(gunicorn|waitress|werkzeug|flask|starlette|celery|rq)\..*(handle|wsgi_app|__call__|execute)/"
)

RULES = (
    WasteRule(
        "python-regex-compile",
        Language.PYTHON,
        _("Regular expressions are compiled again and again"),
        _(
            "A pattern is compiled when it is not in the cache of re, which has room for 512"
            " patterns: those that are built from values, or of many forms, never are."
        ),
        _("Compile patterns once, in constants of the module; do not build them from values."),
        FramePattern(
            r"/(^|\.)(_compiler|sre_compile)\.compile$|(^|\.)re\._compile$|^regex\._compile/"
        ),
    ),
    WasteRule(
        "python-json",
        Language.PYTHON,
        _("JSON takes a large part of the time"),
        _("The json module of Python encodes and decodes at a tenth of the speed of others."),
        _(
            "Use orjson or msgspec, encode less, or cache what is encoded. With indent, the"
            " encoder of json does not use its C code."
        ),
        FramePattern(
            r"/^json\.(loads|dumps|load|dump)$|^json\.(encoder|decoder)\.|^simplejson\.(loads|dumps|encoder|decoder)/"
        ),
        min_share=0.05,
    ),
    WasteRule(
        "python-deepcopy",
        Language.PYTHON,
        _("Objects are copied deeply"),
        _("copy.deepcopy walks every object below a value, in Python code."),
        _(
            "Copy what changes only, build a new object, or use immutable ones."
            " A round trip through"
            " pickle or msgspec is several times faster."
        ),
        FramePattern(r"/^copy\.deepcopy$/"),
    ),
    WasteRule(
        "python-date-parsing",
        Language.PYTHON,
        _("Dates are parsed slowly"),
        _("strptime and dateutil interpret the format in Python code for each value."),
        _("Use datetime.fromisoformat, which is 20 to 50 times faster, or ciso8601."),
        FramePattern(
            r"/^_strptime\._strptime|^dateutil\.parser\.|^(pendulum|arrow)\.parser\.|^dateparser\./"
        ),
    ),
    WasteRule(
        "python-logging",
        Language.PYTHON,
        _("Logging takes time in a hot path"),
        _("Records are formatted and written by the thread that logs."),
        _(
            "Log less there, check isEnabledFor before costly arguments, and"
            " write by a QueueHandler"
            " in another thread."
        ),
        FramePattern(r"/^logging\.Logger\.(_log|handle|debug|info|warning|error|exception|log)$/"),
        min_share=0.03,
    ),
    WasteRule(
        "python-exceptions",
        Language.PYTHON,
        _("Tracebacks are formatted in normal operation"),
        _("Formatting reads source files and walks frames; the exception is part of the flow."),
        _("Return a value for what is expected, and format tracebacks of unexpected errors only."),
        FramePattern(
            r"/^traceback\.(format_exc|format_exception|print_exc|format_stack|extract_stack"
            r"|StackSummary\.|TracebackException\.)/"
        ),
    ),
    WasteRule(
        "python-import",
        Language.PYTHON,
        _("Modules are imported while requests run"),
        _("An import in a function looks the module up under a lock each time it runs."),
        _(
            "Move the import to the top of the module, and load slow modules"
            " before the first request."
        ),
        FramePattern(
            r"/(^|\.)(_bootstrap|<frozen importlib\._bootstrap>)\._find_and_load$/", _HANDLER
        ),
        min_share=0.03,
    ),
    WasteRule(
        "python-blocking-in-async",
        Language.PYTHON,
        _("Blocking calls stop the event loop"),
        _("While a coroutine waits in a blocking call, no other coroutine of its loop runs."),
        _(
            "Use an asynchronous client (httpx.AsyncClient, asyncpg), or asyncio.to_thread for the"
            " blocking call."
        ),
        FramePattern(
            r"/^requests\.|^urllib3\.|^http\.client\.|^urllib\.request\.|^socket\.create_connection$"
            r"|^subprocess\.(run|call|check_output|Popen\.(wait|communicate))|^psycopg2\.|^pymysql\./",
            _EVENT_LOOP,
        ),
        types=CPU_OR_WALL,
    ),
    WasteRule(
        "python-tls-handshake",
        Language.PYTHON,
        _("TLS connections are opened for single requests"),
        _("Each handshake costs both sides CPU time and two round trips."),
        _("Keep connections: one requests.Session or httpx.Client for all requests of a process."),
        FramePattern(
            r"/(^|\.)SSLSocket\.do_handshake$|^ssl\.SSLContext\.(wrap_socket|load_)|^ssl\.create_default_context$/"
        ),
        types=CPU_OR_WALL,
    ),
    WasteRule(
        "python-django-orm",
        Language.PYTHON,
        _("Building model instances of Django takes a large part of the time"),
        _("For each row a model instance is made, with all of its fields."),
        _("Read fewer rows and fields: values_list(), only(), aggregate(), or iterator()."),
        FramePattern(
            r"/^django\.db\.models\.query\.(ModelIterable\.__iter__|RelatedPopulator\.)"
            r"|^django\.db\.models\.base\.Model\.(from_db|__init__)$/"
        ),
        min_share=0.05,
    ),
    WasteRule(
        "python-django-lazy-relations",
        Language.PYTHON,
        _("Relations are loaded one by one (N+1 queries)"),
        _("Access to a relation of each row runs a query for each of them."),
        _("Load them with the rows: select_related() or prefetch_related()."),
        FramePattern(
            r"/^django\.db\.models\.query_utils\.DeferredAttribute\.__get__$"
            r"|^django\.db\.models\.fields\.related_descriptors\.(ForwardManyToOneDescriptor"
            r"|ReverseOneToOneDescriptor)\.(__get__|get_object)$/"
        ),
        types=CPU_OR_WALL,
    ),
    WasteRule(
        "python-sqlalchemy-orm",
        Language.PYTHON,
        _("Building mapped objects of SQLAlchemy takes a large part of the time"),
        _("For each row an instance is made, put into the identity map and tracked."),
        _("Select columns instead of entities, use load_only(), or yield_per()."),
        # Not `instances`, which reads rows of columns, too.
        FramePattern(r"/^sqlalchemy\.orm\.loading\.(_instance|_populate_)/"),
        min_share=0.05,
    ),
    WasteRule(
        "python-sqlalchemy-lazy-relations",
        Language.PYTHON,
        _("Relationships are loaded one by one (N+1 queries)"),
        _("Access to a relationship of each object runs a query for each of them."),
        _(
            "Load them with the objects: selectinload() or joinedload(); forbid"
            " others with raiseload()."
        ),
        FramePattern(
            r"/^sqlalchemy\.orm\.strategies\._?LazyLoader\._(load_for_state|emit_lazyload)$/"
        ),
        types=CPU_OR_WALL,
    ),
    WasteRule(
        "python-logging-lock",
        Language.PYTHON,
        _("Threads wait for the lock of a logging handler"),
        _("A handler writes one record at a time; each other thread that logs waits."),
        _(
            "Log less, write to a faster destination, or let a QueueHandler hand the records"
            " to one thread that writes."
        ),
        FramePattern(r"/^logging\.Handler\.(acquire|handle)$/"),
        types=LOCK_WAITS,
        min_rate=WAITING_RATE,
    ),
    WasteRule(
        "python-lock-waits",
        Language.PYTHON,
        _("Threads wait for locks"),
        _("One thread holds a lock for so long, or so often, that others wait for it."),
        _(
            "Do less while the lock is held (no input or output), use a lock for each part of"
            " the data, or a queue with one thread that owns the data."
        ),
        FramePattern("", without=_NO_PYTHON_LOCK, own=True),
        types=LOCK_WAITS,
        min_rate=WAITING_RATE,
    ),
    WasteRule(
        "python-gil-waits",
        Language.PYTHON,
        _("Threads wait for the GIL"),
        _(
            "One thread of a process runs Python code at a time; the others wait. The CPU profile"
            " shows the code that runs meanwhile."
        ),
        _(
            "Run more processes with fewer threads, move computations to a ProcessPoolExecutor, or"
            " use libraries that release the GIL."
        ),
        FramePattern(r"/^\(waiting for the GIL\)$/"),
        types=WALL,
        min_rate=WAITING_RATE,
    ),
    WasteRule(
        "python-connection-pool",
        Language.PYTHON,
        _("Requests wait for a connection of the pool"),
        _("All connections are in use, or are opened when a request needs one."),
        _(
            "Give connections back sooner, above all before calls to other services; then make the"
            " pool larger."
        ),
        FramePattern(
            r"/^sqlalchemy\.pool\.impl\.(Queue|AsyncAdaptedQueue)Pool\._do_get$"
            r"|^psycopg_pool\.pool(_async)?\.(Async)?ConnectionPool\.getconn$"
            r"|^redis\.connection\.BlockingConnectionPool\.get_connection$"
            r"|^urllib3\.connectionpool\.HTTPConnectionPool\._get_conn$/"
        ),
        types=WALL,
        min_rate=WAITING_RATE,
    ),
    WasteRule(
        "python-template-compile",
        Language.PYTHON,
        _("Templates are compiled for each request"),
        _(
            "A template that is made from a string, or a loader without a cache,"
            " compiles each time."
        ),
        _("Load templates by their names with a caching loader, or keep compiled ones."),
        FramePattern(
            r"/^jinja2\.(environment\.Environment\.(compile|_generate|_parse)|compiler\.|lexer\.)"
            r"|^django\.template\.base\.(Template\.compile_nodelist|Parser\.parse)$/"
        ),
    ),
)
