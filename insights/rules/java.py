"""Rules for Java: classes with dots, as our agent and async-profiler's importer report them."""

from django.utils.translation import gettext_lazy as _

from insights.rule import Language, WasteRule
from profiles.query import FramePattern

RULES = (
    WasteRule(
        "java-regex-compile",
        Language.JAVA,
        _("Regular expressions are compiled again and again"),
        _(
            "Pattern.compile, String.matches, replaceAll and split compile their"
            " pattern at each call."
        ),
        _("Keep compiled patterns in static final fields."),
        FramePattern(r"/^java[./]util[./]regex[./]Pattern\.compile$/"),
    ),
    WasteRule(
        "java-exceptions",
        Language.JAVA,
        _("Exceptions are made in normal operation"),
        _("Each new exception walks the whole stack to fill in its trace."),
        _("Return a value for what is expected, or make exceptions without a stack trace."),
        # The JVM fills the trace in, where JFR takes no samples: stacks end in a constructor.
        FramePattern(
            r"/^java[./]lang[./]Throwable\.(fillInStackTrace|<init>)$"
            r"|(^|[./$])\w*(Exception|Error)\.<init>$/"
        ),
    ),
    WasteRule(
        "java-string-format",
        Language.JAVA,
        _("String.format takes time in a hot path"),
        _("The format is parsed at each call."),
        _("Concatenate, or use StringBuilder, in hot paths."),
        FramePattern(r"/^java[./]util[./]Formatter\.format$/"),
    ),
    WasteRule(
        "java-date-format",
        Language.JAVA,
        _("Date formats are made for single values"),
        _("A SimpleDateFormat parses its pattern and builds a calendar when it is made."),
        _("Use one DateTimeFormatter, which is immutable and safe to share."),
        FramePattern(r"/^java[./]text[./]SimpleDateFormat\.(<init>|initialize|compile)$/"),
    ),
)
