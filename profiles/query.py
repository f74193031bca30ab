"""Questions about profiles: which ones (Selection), what of them (View), and the answers.

Pages, the API and exports import only this module of `profiles`. Each run_* may raise
DeadlinePassed (`deadline` is a moment of time.monotonic()) or Unanswerable, whose text says why.
Several that are asked inside one `snapshot` answer of one moment, and share what they read.
"""

from profiles.engine.metrics import Metric
from profiles.engine.patterns import BadPattern, matcher
from profiles.queries.answers import (
    Choice,
    CompareResult,
    Coverage,
    FocusResult,
    FunctionChange,
    FunctionRow,
    HeatMapResult,
    HistoryLine,
    HistoryResult,
    HistoryStep,
    Intervals,
    LineRow,
    LinesResult,
    Missing,
    OptionsResult,
    ProfileRow,
    ProfilesResult,
    ServiceName,
    ServiceRow,
    ServicesResult,
    Sparkline,
    StripResult,
    StripStep,
    TopResult,
    TreeResult,
    VersionSpan,
    WeightChoice,
)
from profiles.queries.asked import (
    DeadlinePassed,
    FilterOption,
    Group,
    NoSuchMetric,
    Order,
    ProfileOrder,
    Selection,
    Shape,
    Unanswerable,
    View,
    ViewFilter,
    abandoned_when,
    answering,
    check,
)
from profiles.queries.compare import run_compare
from profiles.queries.compare_wire import compare_document, compare_json
from profiles.queries.concurrency import (
    RETRY_SECONDS,
    TooManyQueriesWaiting,
    run_query,
)
from profiles.queries.course_changes import CourseChange, course_changes
from profiles.queries.deployments import run_deployment_counts
from profiles.queries.exports import ExportFile, ExportFormat, run_export
from profiles.queries.heat_map import run_heat_map
from profiles.queries.history import run_history
from profiles.queries.known_deployments import deployments_of
from profiles.queries.options import run_options
from profiles.queries.profiles import run_profiles
from profiles.queries.services import run_last_profile, run_service_names, run_services
from profiles.queries.sparklines import run_sparklines
from profiles.queries.strip import run_strip
from profiles.queries.tree import run_focus, run_lines, run_top, run_tree, run_tree_and_top
from profiles.queries.wire import focus_json, tree_json
from profiles.store.snapshot import snapshot

__all__ = [
    "RETRY_SECONDS",
    "BadPattern",
    "Choice",
    "CompareResult",
    "CourseChange",
    "Coverage",
    "DeadlinePassed",
    "ExportFile",
    "ExportFormat",
    "FilterOption",
    "FocusResult",
    "FunctionChange",
    "FunctionRow",
    "Group",
    "HeatMapResult",
    "HistoryLine",
    "HistoryResult",
    "HistoryStep",
    "Intervals",
    "LineRow",
    "LinesResult",
    "Metric",
    "Missing",
    "NoSuchMetric",
    "OptionsResult",
    "Order",
    "ProfileOrder",
    "ProfileRow",
    "ProfilesResult",
    "Selection",
    "ServiceName",
    "ServiceRow",
    "ServicesResult",
    "Shape",
    "Sparkline",
    "StripResult",
    "StripStep",
    "TooManyQueriesWaiting",
    "TopResult",
    "TreeResult",
    "Unanswerable",
    "VersionSpan",
    "View",
    "ViewFilter",
    "WeightChoice",
    "abandoned_when",
    "answering",
    "check",
    "compare_document",
    "compare_json",
    "course_changes",
    "deployments_of",
    "focus_json",
    "matcher",
    "run_compare",
    "run_deployment_counts",
    "run_export",
    "run_focus",
    "run_heat_map",
    "run_history",
    "run_last_profile",
    "run_lines",
    "run_options",
    "run_profiles",
    "run_query",
    "run_service_names",
    "run_services",
    "run_sparklines",
    "run_strip",
    "run_top",
    "run_tree",
    "run_tree_and_top",
    "snapshot",
    "tree_json",
]
