"""Public interface of profile queries: Selection (which profiles), View, run_* and results.

Pages, the API and exports import only this module of `profiles`. Each run_* takes a QueryContext
first, which `run_query` makes, and may raise DeadlinePassed or InvalidQuery, whose text gives the
reason. Queries inside one `with context.snapshot` see the same state of the database and share
what they read.
"""

from profiles.engine.calltree.pattern_costs import FramePattern, PatternCost
from profiles.engine.calltree.patterns import BadFilterPattern, is_expression, matcher
from profiles.engine.calltree.peek import Neighbour
from profiles.engine.calltree.top import FunctionRow
from profiles.engine.coverage import Coverage, Missing
from profiles.engine.exports.csv_file import encode as encode_csv
from profiles.engine.exports.csv_file import encode_rows as encode_csv_rows
from profiles.engine.metrics import DEFAULT_METRICS, Metric
from profiles.engine.stats.significance import series_changes
from profiles.engine.stats.time_series import select_callers
from profiles.queries.cache import cache_page, cache_stats, get_cached_page
from profiles.queries.compare import (
    CompareResult,
    FunctionChange,
    compare_document,
    run_compare,
)
from profiles.queries.compare_sides import Untested, UntestedReason
from profiles.queries.concurrency import (
    RETRY_SECONDS,
    TooManyQueriesWaiting,
    run_query,
)
from profiles.queries.context import DeadlinePassed, QueryContext
from profiles.queries.deployments import get_deployments
from profiles.queries.exports import ExportFile, ExportFormat, run_export
from profiles.queries.focus import (
    FocusResult,
    focus_document,
    focus_json,
    run_focus,
    run_tree_and_top,
)
from profiles.queries.functions import (
    LinesResult,
    TopResult,
    run_lines,
    run_top,
)
from profiles.queries.pattern_costs import PatternCosts, run_pattern_costs
from profiles.queries.pgo import PgoResult, run_pgo
from profiles.queries.query_record import QueryStatus
from profiles.queries.query_workers import QueryJob
from profiles.queries.reports.function_sums import FunctionSumsResult, run_function_sums
from profiles.queries.reports.heat_map import HeatMapResult, run_heat_map
from profiles.queries.reports.history import (
    HistoryLine,
    HistoryResult,
    history_document,
    run_history,
)
from profiles.queries.reports.inventory import (
    StoredAmount,
    run_deployment_counts,
    run_label_names,
    run_label_values,
    run_stored_amounts,
    run_stored_deployments,
    run_stored_metrics,
)
from profiles.queries.reports.options import (
    MenuChoice,
    OptionsResult,
    run_options,
    run_sample_labels,
)
from profiles.queries.reports.profile_times import (
    NearestProfiles,
    run_calendar,
    run_first_profiles,
    run_nearest,
    run_stored_times,
)
from profiles.queries.reports.profile_values import run_profile_values
from profiles.queries.reports.profiles import ProfileRow, run_profiles
from profiles.queries.reports.series import MAX_SIZE as MAX_SERIES
from profiles.queries.reports.series import GroupSeries, SeriesResult, run_series, series_document
from profiles.queries.reports.services import (
    ServiceName,
    ServiceRow,
    run_service_names,
    run_service_search,
    run_services,
)
from profiles.queries.reports.sparklines import Sparkline, run_sparklines
from profiles.queries.reports.time_steps import HistoryStep
from profiles.queries.reports.time_strip import (
    StripResult,
    StripStep,
    run_function_strip,
    run_strip,
    strip_step,
)
from profiles.queries.saved_tree_input import SavedTreeNotFound, SavedTreeUnreadable
from profiles.queries.saved_trees import (
    NothingToStore,
    SavedTreeInfo,
    delete_saved_tree,
    get_saved_tree,
    list_saved_trees,
    save_tree,
)
from profiles.queries.selection import (
    FilterOption,
    Group,
    Grouping,
    GroupKind,
    InvalidQuery,
    MetricNotFound,
    Order,
    ProfileOrder,
    ProfileSelection,
    SavedTree,
    Selection,
    Shape,
    View,
    ViewFilter,
)
from profiles.queries.services_tree import (
    FoldedTree,
    ServicesTree,
    run_services_tree,
)
from profiles.queries.tree import (
    TreeResult,
    preview,
    run_top_below,
    run_tree,
    run_tree_and_functions,
    tree_document,
    tree_json,
)
from profiles.queries.tree_document import VERSION, coverage_fields, dumps
from profiles.storage.block_summary import MOST_LABELS
from profiles.storage.saved_tree_rows import SavedTreeNotStored

__all__ = [
    "DEFAULT_METRICS",
    "MAX_SERIES",
    "MOST_LABELS",
    "RETRY_SECONDS",
    "VERSION",
    "BadFilterPattern",
    "CompareResult",
    "Coverage",
    "DeadlinePassed",
    "ExportFile",
    "ExportFormat",
    "FilterOption",
    "FocusResult",
    "FoldedTree",
    "FramePattern",
    "FunctionChange",
    "FunctionRow",
    "FunctionSumsResult",
    "Group",
    "GroupKind",
    "GroupSeries",
    "Grouping",
    "HeatMapResult",
    "HistoryLine",
    "HistoryResult",
    "HistoryStep",
    "InvalidQuery",
    "LinesResult",
    "MenuChoice",
    "Metric",
    "MetricNotFound",
    "Missing",
    "NearestProfiles",
    "Neighbour",
    "NothingToStore",
    "OptionsResult",
    "Order",
    "PatternCost",
    "PatternCosts",
    "PgoResult",
    "ProfileOrder",
    "ProfileRow",
    "ProfileSelection",
    "QueryContext",
    "QueryJob",
    "QueryStatus",
    "SavedTree",
    "SavedTreeInfo",
    "SavedTreeNotFound",
    "SavedTreeNotStored",
    "SavedTreeUnreadable",
    "Selection",
    "SeriesResult",
    "ServiceName",
    "ServiceRow",
    "ServicesTree",
    "Shape",
    "Sparkline",
    "StoredAmount",
    "StripResult",
    "StripStep",
    "TooManyQueriesWaiting",
    "TopResult",
    "TreeResult",
    "Untested",
    "UntestedReason",
    "View",
    "ViewFilter",
    "cache_page",
    "cache_stats",
    "compare_document",
    "coverage_fields",
    "delete_saved_tree",
    "dumps",
    "encode_csv",
    "encode_csv_rows",
    "focus_document",
    "focus_json",
    "get_cached_page",
    "get_deployments",
    "get_saved_tree",
    "history_document",
    "is_expression",
    "list_saved_trees",
    "matcher",
    "preview",
    "run_calendar",
    "run_compare",
    "run_deployment_counts",
    "run_export",
    "run_first_profiles",
    "run_focus",
    "run_function_strip",
    "run_function_sums",
    "run_heat_map",
    "run_history",
    "run_label_names",
    "run_label_values",
    "run_lines",
    "run_nearest",
    "run_options",
    "run_pattern_costs",
    "run_pgo",
    "run_profile_values",
    "run_profiles",
    "run_query",
    "run_sample_labels",
    "run_series",
    "run_service_names",
    "run_service_search",
    "run_services",
    "run_services_tree",
    "run_sparklines",
    "run_stored_amounts",
    "run_stored_deployments",
    "run_stored_metrics",
    "run_stored_times",
    "run_strip",
    "run_top",
    "run_top_below",
    "run_tree",
    "run_tree_and_functions",
    "run_tree_and_top",
    "save_tree",
    "select_callers",
    "series_changes",
    "series_document",
    "strip_step",
    "tree_document",
    "tree_json",
]
