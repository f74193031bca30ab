"""Django settings, all from environment variables; see docs/reference/settings.md."""

import logging
import ssl
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

from common.cores import count_cores
from profiler_site.configuration import env, mail, secret_key, sign_on_providers

BASE_DIR = Path(__file__).resolve().parent.parent
try:
    VERSION = version("flamewatch")
except PackageNotFoundError:  # running from a checkout that is not installed
    VERSION = "0.0.0"

# -- Locations ------------------------------------------------------------------------
DATA_DIR = Path(env.text("FLAMEWATCH_DATA_DIR", "data")).resolve()
DATABASE_URL = env.text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'flamewatch.sqlite3'}")
REDIS_URL = env.redis("REDIS_URL")
BLOB_URL = env.text("BLOB_URL", f"file://{DATA_DIR / 'blobs'}")
FLAMEWATCH_URL = env.public_url("FLAMEWATCH_URL", "http://127.0.0.1:8000")
# `make install` builds the agent's files in the checkout, for any data folder.
_BUILT_AGENT_FILES = BASE_DIR / "dist" / "agents"
AGENT_FILES_DIR = Path(
    env.text(
        "FLAMEWATCH_AGENT_FILES_DIR",
        str(_BUILT_AGENT_FILES if _BUILT_AGENT_FILES.is_dir() else DATA_DIR / "agents"),
    )
)

# -- Capture requests -----------------------------------------------------------------
MAX_PARKED_PER_DEPLOYMENT = env.integer("FLAMEWATCH_MAX_PARKED_PER_DEPLOYMENT", 32, lowest=1)
POLL_TIMEOUT_SECONDS = env.seconds("FLAMEWATCH_POLL_TIMEOUT_SECONDS", 50.0, lowest=0.01)
PLAN_PERIOD_SECONDS = env.seconds("FLAMEWATCH_PLAN_PERIOD_SECONDS", 60.0, lowest=0.1)
CAPTURE_SECONDS = env.seconds("FLAMEWATCH_CAPTURE_SECONDS", 10.0, lowest=0.1)
NEW_AGENTS_PER_DAY = env.integer("FLAMEWATCH_NEW_AGENTS_PER_DAY", 1000)

# -- Limits of one upload -------------------------------------------------------------
MAX_UPLOAD_BYTES = env.integer("FLAMEWATCH_MAX_UPLOAD_BYTES", 16 * 2**20, lowest=1)
MAX_PROFILE_BYTES = env.integer("FLAMEWATCH_MAX_PROFILE_BYTES", 128 * 2**20, lowest=1)
MAX_SAMPLES = env.integer("FLAMEWATCH_MAX_SAMPLES", 1_000_000, lowest=1)
MAX_DEPTH = env.integer("FLAMEWATCH_MAX_DEPTH", 10_000, lowest=1)
MAX_NODES = env.integer("FLAMEWATCH_MAX_NODES", 2_000_000, lowest=1)
MAX_SYMBOLS = env.integer("FLAMEWATCH_MAX_SYMBOLS", 1_000_000, lowest=1)
MAX_SAMPLE_LABELS = env.integer("FLAMEWATCH_MAX_SAMPLE_LABELS", 500_000, lowest=1)
MAX_STRING_BYTES = env.integer("FLAMEWATCH_MAX_STRING_BYTES", 64 * 2**20, lowest=1)
MAX_EXPANSION = env.integer("FLAMEWATCH_MAX_EXPANSION", 16, lowest=1)
MAX_TOTAL = env.integer("FLAMEWATCH_MAX_TOTAL", 2**56, lowest=1)
MAX_STACK_FRAMES = env.integer("FLAMEWATCH_MAX_STACK_FRAMES", 100_000_000, lowest=1)
MAX_LABEL_VALUES = env.integer("FLAMEWATCH_MAX_LABEL_VALUES", 10_000, lowest=1)

# -- Limits of converting one file of another format ------------------------------------
CONVERSION_CPU_SECONDS = env.seconds("FLAMEWATCH_CONVERSION_CPU_SECONDS", 30.0, lowest=1.0)
CONVERSION_WALL_SECONDS = env.seconds("FLAMEWATCH_CONVERSION_WALL_SECONDS", 60.0, lowest=1.0)
CONVERSION_MEMORY_BYTES = env.integer(
    "FLAMEWATCH_CONVERSION_MEMORY_BYTES", 2**30, lowest=64 * 2**20
)

# -- Limits of decoding one large profile in a worker process ----------------------------
DECODE_CPU_SECONDS = env.seconds("FLAMEWATCH_DECODE_CPU_SECONDS", 20.0, lowest=1.0)
DECODE_WALL_SECONDS = env.seconds("FLAMEWATCH_DECODE_WALL_SECONDS", 60.0, lowest=1.0)
DECODE_MEMORY_BYTES = env.integer("FLAMEWATCH_DECODE_MEMORY_BYTES", 2**30, lowest=64 * 2**20)

# -- Labels of other clients: names in order of precedence ------------------------------
SERVICE_LABELS = env.names(
    "FLAMEWATCH_SERVICE_LABELS", "service_name,service.name,app.name,process.executable.name"
)
VERSION_LABELS = env.names(
    "FLAMEWATCH_VERSION_LABELS", "service.version,service_version,version,service_git_ref"
)
ZONE_LABELS = env.names(
    "FLAMEWATCH_ZONE_LABELS", "cloud.availability_zone,zone,cloud.region,region"
)
LANGUAGE_LABELS = env.names("FLAMEWATCH_LANGUAGE_LABELS", "telemetry.sdk.language,language")
INSTANCE_LABELS = env.names(
    "FLAMEWATCH_INSTANCE_LABELS",
    "service.instance.id,instance,k8s.pod.name,pod,host.name,hostname,host",
)
IGNORED_LABELS = env.names(
    "FLAMEWATCH_IGNORED_LABELS",
    "__*,telemetry.*,process.*,os.*,host.*,container.*,k8s.*.uid,profiler.*",
)

# -- Query API ------------------------------------------------------------------------
QUERY_SECONDS = env.seconds("FLAMEWATCH_QUERY_SECONDS", 20.0, lowest=0.1)
QUERY_WORKERS = env.integer("FLAMEWATCH_QUERY_WORKERS", max(2, count_cores()))
# Of one build of blocks by the worker process of compaction.
COMPACTION_SECONDS = env.seconds("FLAMEWATCH_COMPACTION_SECONDS", 300.0, lowest=1.0)
COMPACTION_MEMORY_BYTES = env.integer(
    "FLAMEWATCH_COMPACTION_MEMORY_BYTES", 512 * 2**20, lowest=64 * 2**20
)
QUERY_MEMORY_BYTES = env.integer("FLAMEWATCH_QUERY_MEMORY_BYTES", 2 * 2**30, lowest=64 * 2**20)
QUERIES_PER_MINUTE = env.integer("FLAMEWATCH_QUERIES_PER_MINUTE", 600)
RESULT_CACHE_BYTES = env.integer("FLAMEWATCH_RESULT_CACHE_BYTES", 40_000_000)
SLOW_QUERY_SECONDS = env.seconds("FLAMEWATCH_SLOW_QUERY_SECONDS", 5.0)  # 0: no log
MAX_QUERY_NODES = env.integer("FLAMEWATCH_MAX_QUERY_NODES", 4_000_000, lowest=1)
BLOCK_CACHE_BYTES = env.integer("FLAMEWATCH_BLOCK_CACHE_BYTES", 512 * 2**20)

# -- Connections ----------------------------------------------------------------------
MAX_UNAUTHENTICATED_CONNECTIONS = env.integer(
    "FLAMEWATCH_MAX_UNAUTHENTICATED_CONNECTIONS", 1000, lowest=1
)
RESERVED_FILES = env.integer("FLAMEWATCH_RESERVED_FILES", 100)

# -- gRPC, for Cloud Profiler's agents in Go and Java -----------------------------------
GRPC_PORT = env.integer("FLAMEWATCH_GRPC_PORT", 8010)  # 0: no gRPC
# Files in PEM; without them the port takes plaintext, for a proxy in front.
GRPC_TLS_CERT = env.text("FLAMEWATCH_GRPC_TLS_CERT", "")
GRPC_TLS_KEY = env.text("FLAMEWATCH_GRPC_TLS_KEY", "")

# -- Metrics --------------------------------------------------------------------------
METRICS_TOKEN = env.text("FLAMEWATCH_METRICS_TOKEN", "")

# -- Free disk space ------------------------------------------------------------------
MIN_FREE_BYTES = env.integer("FLAMEWATCH_MIN_FREE_BYTES", 64 * 2**20)

# -- Sign-up --------------------------------------------------------------------------
SIGNUP = env.choice("FLAMEWATCH_SIGNUP", "open", ("open", "invited", "closed"))
# Domains of the addresses with which an account can be created without an invitation; all if empty.
SIGNUP_DOMAINS = tuple(
    name.lower().removeprefix("@") for name in env.names("FLAMEWATCH_SIGNUP_DOMAINS", "")
)
# Domains whose verified addresses make accounts sign in by single sign-on.
SSO_REQUIRED_DOMAINS = tuple(
    name.lower().removeprefix("@") for name in env.names("FLAMEWATCH_SSO_REQUIRED_DOMAINS", "")
)
SIGNUPS_PER_HOUR = env.integer("FLAMEWATCH_SIGNUPS_PER_HOUR", 10, lowest=1)
SIGNUPS_PER_DAY = env.integer("FLAMEWATCH_SIGNUPS_PER_DAY", 30, lowest=1)

# -- Limits of accounts and projects --------------------------------------------------
MAX_PROJECTS_PER_ACCOUNT = env.integer("FLAMEWATCH_MAX_PROJECTS_PER_ACCOUNT", 20, lowest=1)
MAX_MEMBERS_PER_PROJECT = env.integer("FLAMEWATCH_MAX_MEMBERS_PER_PROJECT", 200, lowest=1)
MAX_INVITATIONS_PER_PROJECT = env.integer("FLAMEWATCH_MAX_INVITATIONS_PER_PROJECT", 100, lowest=1)
INVITATIONS_PER_DAY = env.integer("FLAMEWATCH_INVITATIONS_PER_DAY", 100, lowest=1)
INVITATION_DAYS = env.integer("FLAMEWATCH_INVITATION_DAYS", 7, lowest=1)
MAX_KEYS_PER_PROJECT = env.integer("FLAMEWATCH_MAX_KEYS_PER_PROJECT", 100, lowest=1)
# Days before the expiry of a key at which its project is told.
# Networks that are not public, to which webhooks may be sent nevertheless.
WEBHOOK_ALLOWED_NETWORKS = env.networks("FLAMEWATCH_WEBHOOK_ALLOWED_NETWORKS")
KEY_EXPIRY_NOTICE_DAYS = env.integers("FLAMEWATCH_KEY_EXPIRY_NOTICE_DAYS", (14, 3), lowest=1)
# Days for which images in messages can be loaded without a session; 0: messages have none.
NOTICE_IMAGE_DAYS = env.integer("FLAMEWATCH_NOTICE_IMAGE_DAYS", 7, lowest=0)
KEY_OVERLAP_DAYS = env.integer("FLAMEWATCH_KEY_OVERLAP_DAYS", 7, lowest=1)
MAX_SNAPSHOTS_PER_PROJECT = env.integer("FLAMEWATCH_MAX_SNAPSHOTS_PER_PROJECT", 500, lowest=1)
MAX_SNAPSHOT_BYTES_PER_PROJECT = env.integer(
    "FLAMEWATCH_MAX_SNAPSHOT_BYTES_PER_PROJECT", 10**9, lowest=1
)
MAX_SAVED_VIEWS_PER_PROJECT = env.integer("FLAMEWATCH_MAX_SAVED_VIEWS_PER_PROJECT", 200, lowest=1)
MAX_ANNOTATIONS = env.integer("FLAMEWATCH_MAX_ANNOTATIONS", 1000, lowest=1)

# -- Deletion -------------------------------------------------------------------------
PROJECT_DELETION_DAYS = env.integer("FLAMEWATCH_PROJECT_DELETION_DAYS", 7)

# -- Export ---------------------------------------------------------------------------
EXPORT_DAYS = env.integer("FLAMEWATCH_EXPORT_DAYS", 7, lowest=1)
EXPORT_MAX_BYTES = env.integer("FLAMEWATCH_EXPORT_MAX_BYTES", 10 * 10**9, lowest=1)

# -- Audit log ------------------------------------------------------------------------
AUDIT_DAYS = env.integer("FLAMEWATCH_AUDIT_DAYS", 400, lowest=1)

# -- Django ---------------------------------------------------------------------------
SECRET_KEY = secret_key.load_or_make(DATA_DIR)
DEBUG = env.flag("FLAMEWATCH_DEBUG", False)
DEFAULT_EXCEPTION_REPORTER_FILTER = "profiler_site.configuration.error_report.ErrorReportFilter"
_public = urlsplit(FLAMEWATCH_URL)
BEHIND_TLS = _public.scheme == "https"
# Networks of the proxies whose X-Forwarded-For and X-Forwarded-Proto count; empty: this machine.
TRUSTED_PROXIES = env.networks("FLAMEWATCH_TRUSTED_PROXIES")
ALLOWED_HOSTS = [_public.hostname or "127.0.0.1", "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = [FLAMEWATCH_URL]
ROOT_URLCONF = "profiler_site.urls"
ASGI_APPLICATION = "profiler_site.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "projects.User"
SITE_NAME = "Flamewatch"

INSTALLED_APPS = [
    "profiler_site.apps.SiteConfig",
    # Before ours, whose admin leaves out theirs.
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "projects.accounts.openid_connect",
    "projects",
    "scheduler",
    "ingest",
    "profiles",
    "findings",
    "alerts",
    "frontend",
    "allauth",
    "allauth.account",
    "rest_framework",
    "django_htmx",
    "csp",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "frontend.http.page_compression.PageCompressionMiddleware",
    "frontend.http.control_characters.ControlCharacterMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "frontend.http.language.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "frontend.http.visit_middleware.VisitMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "frontend.http.nul_middleware.NulMiddleware",
    "frontend.http.busy_pages.DeadlineMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["frontend.rendering.template_loader.Loader"],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "frontend.rendering.shell.shell",
            ],
        },
    },
]

# -- Database: acknowledged writes survive a power failure ----------------------------
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # Nothing that writes: a connection would wait for those who do. PRAGMA auto_vacuum writes
    # (common/sqlite_space.py sets it once).
    # The log is truncated to 16 MB when it starts again.
    # 4 MB of page cache for each connection: every thread that uses the database keeps one.
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "PRAGMA journal_size_limit=16777216; PRAGMA cache_size=-4000;"
        # Deleted rows are overwritten by zeros: 60 µs for each row of 20 kB that compaction moves.
        "PRAGMA secure_delete=ON;"
    ),
}
_POSTGRESQL_OPTIONS = {
    "options": "-c synchronous_commit=on",
    "connect_timeout": 10,  # seconds; then a query fails, and its client retries later
}
DATABASES = {"default": env.database("DATABASE_URL", DATABASE_URL)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    # A file for tests too: with an in-memory database, threads fail at a lock instead of waiting.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
    _folder = Path(str(DATABASES["default"]["NAME"])).parent
    _folder.mkdir(mode=0o700, parents=True, exist_ok=True)
else:
    # Those of the URL stay, such as sslmode.
    DATABASES["default"]["OPTIONS"] = DATABASES["default"].get("OPTIONS", {}) | _POSTGRESQL_OPTIONS
    # An iteration that ends early leaves a server-side cursor for the garbage collector to close.
    # If that happens during another query on the same connection, both wait for ever.
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
# Each thread keeps its connection: opening one takes 7 ms of CPU time on SQLite. Before each job a
# connection is checked, because one from before a restart of the database is broken.
DATABASES["default"]["CONN_MAX_AGE"] = None
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

REDIS_CACHE_OPTIONS = {"serializer": "common.json_serializer.JsonSerializer"}


def _cache(name: str, max_entries: int) -> dict[str, object]:
    """Return the settings of a cache: in Redis, else of each process with at most `max_entries`."""
    if not REDIS_URL:
        return {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": name,
            "OPTIONS": {"MAX_ENTRIES": max_entries},
        }
    return {
        "BACKEND": "common.redis_outage.FallbackRedisCache",
        "LOCATION": [REDIS_URL],  # a list, because Django splits a text at commas and semicolons
        "KEY_PREFIX": name,
        "OPTIONS": REDIS_CACHE_OPTIONS,
    }


CACHES: dict[str, dict[str, object]] = {
    # django-allauth counts attempts in the default cache. An attacker would have to try from
    # 100,000 addresses within five minutes to evict the count of one account. A value takes about
    # 0.5 kB.
    "default": _cache("attempts", 100_000),
}

# -- Celery ---------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
# Without this Celery does not check the certificate of a rediss:// URL.
CELERY_BROKER_USE_SSL = (
    {"ssl_cert_reqs": ssl.CERT_REQUIRED} if REDIS_URL.startswith("rediss:") else False
)
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_CONCURRENCY = count_cores()  # Celery itself counts all cores of the machine
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# -- E-mail: without a mail server none is sent, and no page offers any ----------------
_smtp_url = env.text("FLAMEWATCH_SMTP_URL", "")
SENDS_MAIL = bool(_smtp_url)
_mail = mail.parse(_smtp_url) if SENDS_MAIL else mail.MailServer()
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if SENDS_MAIL else 'dummy'}.EmailBackend"
EMAIL_TIMEOUT = 10
EMAIL_HOST, EMAIL_PORT = _mail.host, _mail.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.starttls, _mail.tls
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text(
    "FLAMEWATCH_MAIL_FROM", f"{SITE_NAME} <flamewatch@{_public.hostname or 'localhost'}>"
)

# -- Accounts -------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "projects.accounts.passwords.LongEnoughValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
# An address that is not verified yet keeps nobody from a first project, unless its domain decides.
ACCOUNT_EMAIL_VERIFICATION = (
    "none" if not SENDS_MAIL else "mandatory" if SIGNUP_DOMAINS else "optional"
)
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True  # in the browser that has just signed up
ACCOUNT_EMAIL_SUBJECT_PREFIX = f"[{SITE_NAME}] "
ACCOUNT_ADAPTER = "projects.accounts.signup.SignupAdapter"
# Beside django-allauth's own limits of attempts: accounts created from one client address.
ACCOUNT_RATE_LIMITS = {
    "signups_per_hour": f"{SIGNUPS_PER_HOUR}/h/ip",
    "signups_per_day": f"{SIGNUPS_PER_DAY}/d/ip",
    "accept_invitation": "20/m/user",
    "device_codes": "30/h/ip",
    "device_code_guesses": "20/h/user",
    # Failed sign-ins in the audit log (projects/accounts/failed_sign_ins.py).
    "failures_of_address": "10/h/key",
    "failures_of_accounts": "1000/h/key",
    "failures_of_others": "100/h/key",
}
ACCOUNT_FORMS = {"signup": "projects.accounts.signup.SignupForm"}
MFA_ADAPTER = "projects.accounts.two_factors.TwoFactorAdapter"
# Browsers tie a passkey to the host of FLAMEWATCH_URL, which therefore has to stay.
PASSKEYS = env.flag("FLAMEWATCH_PASSKEYS", False)
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", *(["webauthn"] if PASSKEYS else [])]
MFA_PASSKEY_LOGIN_ENABLED = PASSKEYS
MFA_FORMS = {
    "add_webauthn": "projects.accounts.passkeys.AddPasskeyForm",
    "authenticate_webauthn": "projects.accounts.passkeys.SecondFactorForm",
    "edit_webauthn": "projects.accounts.passkeys.PasskeyNameForm",
    "login_webauthn": "projects.accounts.passkeys.PasskeySignInForm",
    "reauthenticate_webauthn": "projects.accounts.passkeys.PasskeyConfirmationForm",
}
MFA_TOTP_ISSUER = SITE_NAME
# A code is also good for 30 s before and after its time: clocks of phones differ.
MFA_TOTP_TOLERANCE = 1
MFA_RECOVERY_CODES_SHOW_ONCE = True
# Without a mail server no address is ever verified.
MFA_ALLOW_UNVERIFIED_EMAIL = not SENDS_MAIL
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"

# -- Single sign-on -------------------------------------------------------------------
OIDC_ISSUER = env.text("FLAMEWATCH_OIDC_ISSUER", "")
OIDC_CLIENT_ID = env.text("FLAMEWATCH_OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = env.text("FLAMEWATCH_OIDC_CLIENT_SECRET", "")
OIDC_NAME = env.text("FLAMEWATCH_OIDC_NAME", "OpenID Connect")
OIDC_TRUST_EMAIL = env.flag("FLAMEWATCH_OIDC_TRUST_EMAIL", False)
GOOGLE_CLIENT_ID = env.text("FLAMEWATCH_GOOGLE_CLIENT_ID", "")
GOOGLE_CLIENT_SECRET = env.text("FLAMEWATCH_GOOGLE_CLIENT_SECRET", "")
GITHUB_CLIENT_ID = env.text("FLAMEWATCH_GITHUB_CLIENT_ID", "")
GITHUB_CLIENT_SECRET = env.text("FLAMEWATCH_GITHUB_CLIENT_SECRET", "")
SOCIALACCOUNT_ADAPTER = "projects.accounts.single_sign_on.SingleSignOnAdapter"
SOCIALACCOUNT_PROVIDERS = sign_on_providers.build(
    oidc=sign_on_providers.OpenIdConnectClient(
        "oidc", OIDC_NAME, OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_TRUST_EMAIL
    ),
    # Google is an OpenID provider: its ID tokens are checked as those of any other.
    google=sign_on_providers.OpenIdConnectClient(
        "google",
        "Google",
        "https://accounts.google.com" if GOOGLE_CLIENT_ID else "",
        GOOGLE_CLIENT_ID,
        GOOGLE_CLIENT_SECRET,
    ),
    github=(GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET),
)
# A provider's address never signs in to an account: only its identifier of the person does.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True

# -- Browser security -----------------------------------------------------------------
# Without a cache in front: pages work without Redis, and a session that ended while Redis was down
# is not valid again afterwards. It costs one look-up by primary key for each page.
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_HTTPONLY = True
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
# Other hosts of the domain may not serve TLS: only its operator can promise that.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("FLAMEWATCH_HSTS_SUBDOMAINS", False) and BEHIND_TLS
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # HSTS of subdomains, and preloading
SECURE_SSL_REDIRECT = BEHIND_TLS
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# -- The API --------------------------------------------------------------------------
REST_FRAMEWORK = {
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "endpoints.error_responses.rest_framework_handler",
}

# -- Language and time: UTC inside, local in the browser ------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("es", "Español"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "frontend" / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SECURE = BEHIND_TLS
LANGUAGE_COOKIE_HTTPONLY = True
FORMAT_MODULE_PATH = ["profiler_site.formats"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# -- Static files ---------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
# The server reads its static files itself; as all of the data folder, they are for its user only.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
SERVESTATIC_MANIFEST_STRICT = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "profiler_site.static_files.storage.BundlingStorage"},
}

LOG_FORMAT = env.choice("FLAMEWATCH_LOG_FORMAT", "text", ("text", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "common.json_log.JsonFormatter"},
    },
    "filters": {
        "cancelled_requests": {"()": "common.log_filters.CancelledRequestFilter"},
        "client_errors": {"()": "common.log_filters.ClientErrorFilter"},
        "secret_paths": {"()": "common.log_filters.SecretPathFilter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["cancelled_requests", "client_errors", "secret_paths"],
        }
    },
    "root": {"handlers": ["stderr"], "level": env.log_level("FLAMEWATCH_LOG_LEVEL", "WARNING")},
    # It warns of every malformed body, with which clients could fill the log.
    "loggers": {"python_multipart": {"level": "ERROR"}},
}
if LOG_FORMAT == "json":
    logging.captureWarnings(True)  # Python's own warnings would be plain text
