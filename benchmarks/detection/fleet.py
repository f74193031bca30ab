"""Measure detection on simulated services with planted rises, cost shifts and renames.

Each service is analyzed every 12 hours, as the server would. Seeds below 2000 are for development;
the default ones were not used for it.
"""

import argparse
import sys
import time
from collections import Counter

from benchmarks.detection.simulated_service import (
    HOURS,
    PROFILES_AN_HOUR,
    RATE_CHANGE,
    Plant,
    SimulatedService,
    simulate_service,
)
from benchmarks.tools.table import Figure, show
from detection.analysis import detect_changes
from detection.baseline import WINDOW_HOURS
from detection.findings import CheckStage, DetectedChange
from detection.power import find_detectable_change, max_p

STEP_HOURS = 12
SERIES_A_DAY = 30_000  # of the server
FALSE_A_MONTH = 0.25
MOST_LATE = 48  # hours from the change to the report
FLEET_SERVICES = 100
SMALL_SERVICE = (0.3, 1.0)  # busy cores
CHANGE, SHARE = 0.05, 0.01  # that adaptive rates aim to find, of a function
MOST_AN_HOUR = 600.0  # profiles of a service, with an adaptive rate


class ServiceOutcome:
    """Counts of what was found in one service."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_found = False  # with function and version, in time
        self.is_reported = False  # any finding at the planted change
        self.repeated = 0  # findings with the cause of an earlier one
        self.false_findings: list[str] = []
        self.dropped: Counter[CheckStage] = Counter()  # of the function of the change
        self.seconds = 0.0
        self.runs = 0

    def analyze(self, service: SimulatedService) -> None:
        series = service.series
        seen: set[tuple[int, int]] = set()
        limit = max_p(SERIES_A_DAY, 24 // STEP_HOURS, FALSE_A_MONTH)
        for end in range(WINDOW_HOURS + STEP_HOURS, HOURS + 1, STEP_HOURS):
            start = time.process_time()
            detection = detect_changes(series, end, limit)
            self.seconds += time.process_time() - start
            self.runs += 1
            for finding in detection.findings:
                key = (finding.candidate.function, finding.change_hour // 24)
                if key in seen:
                    continue
                seen.add(key)
                self._count(service, finding, end)
            if service.hour + 24 <= end <= service.hour + MOST_LATE + STEP_HOURS:
                self.dropped.update(
                    candidate.dropped
                    for candidate in detection.dropped
                    if candidate.function == service.function and candidate.dropped
                )

    def _count(self, service: SimulatedService, finding: DetectedChange, end: int) -> None:
        function, hour = finding.candidate.function, finding.change_hour
        ancestors = service.series.ancestors
        is_related = ancestors[function, service.function] or ancestors[service.function, function]
        has_cause = is_related and abs(hour - service.hour) <= MOST_LATE
        if service.plant is Plant.NOTHING or not has_cause:
            name = service.series.functions[function].name
            self.false_findings.append(f"{self.name} {name} hour {hour}")
            return
        self.repeated += self.is_reported
        self.is_reported = True
        is_right = function == service.function and finding.version == service.version
        self.is_found |= is_right and end <= service.hour + MOST_LATE + STEP_HOURS


def analyze(seed: int, count: int, plant: Plant) -> list[ServiceOutcome]:
    outcomes = []
    for number in range(count):
        service = simulate_service(seed, number, plant)
        outcome = ServiceOutcome(f"{plant}, {service.series.service}")
        outcome.analyze(service)
        outcomes.append(outcome)
    return outcomes


def count_small_rises(seed: int, count: int) -> tuple[int, int]:
    """Return how many rises in small services are found, at the fixed and at the adaptive rate."""
    limit = max_p(SERIES_A_DAY, 24 // STEP_HOURS, FALSE_A_MONTH)
    found = [0, 0]
    for number in range(count):
        fixed = simulate_service(seed, number, Plant.RISE, SMALL_SERVICE)
        end = RATE_CHANGE + 24
        baseline = detect_changes(fixed.series, end, limit).baseline
        change = find_detectable_change(baseline, SHARE, limit) if baseline else None
        rate = PROFILES_AN_HOUR * ((change or 0) / CHANGE) ** 2
        rate = min(max(rate, PROFILES_AN_HOUR), MOST_AN_HOUR)
        adaptive = simulate_service(seed, number, Plant.RISE, SMALL_SERVICE, rate)
        for index, service in enumerate((fixed, adaptive)):
            outcome = ServiceOutcome(service.series.service)
            outcome.analyze(service)
            found[index] += outcome.is_found
    return found[0], found[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2000, help="first seed (default: 2000)")
    parser.add_argument("--services", type=int, default=200, help="services of each kind of change")
    parser.add_argument("--explain", action="store_true", help="list misses and false findings")
    options = parser.parse_args()
    results = {
        plant: analyze(options.seed + number, options.services, plant)
        for number, plant in enumerate(Plant)
    }
    every = [outcome for outcomes in results.values() for outcome in outcomes]
    if options.explain:
        for outcome in every:
            if outcome.false_findings:
                print("false:", outcome.false_findings)
        for outcome in results[Plant.RISE]:
            if not outcome.is_found:
                print("missed:", outcome.name, dict(outcome.dropped))
    percent = 100 / options.services
    rises = results[Plant.RISE]
    silent = [*results[Plant.SHIFT], *results[Plant.RENAME]]
    false_findings = sum(len(outcome.false_findings) for outcome in every)
    seconds = sum(outcome.seconds for outcome in every) / sum(outcome.runs for outcome in every)
    missed = sum(not each.is_found for each in rises)
    reported = sum(each.is_reported for each in silent)
    repeated = sum(each.repeated for each in rises)
    fixed, adaptive = count_small_rises(options.seed + len(Plant), options.services)
    figures = [
        Figure("rises of 5 % of a 1 % function, missed", percent * missed, "%", limit=10),
        Figure("rises of 5 %, reported again by a caller", percent * repeated, "%"),
        Figure("cost shifts and renames, reported", percent / 2 * reported, "%", limit=10),
        Figure(
            "other findings, a month of 100 services",
            false_findings * FLEET_SERVICES / len(every),
            "findings",
            limit=1,
        ),
        Figure("30,000 series, one run", seconds * 150, "s CPU", limit=120),
        Figure("rises of 5 % at 0.3 to 1 core, found at 1 profile a minute", percent * fixed, "%"),
        Figure("the same with the adaptive rate", percent * adaptive, "%"),
    ]
    title = f"Detection: {len(every):,} simulated services of 30 days, 200 series each"
    return 0 if show(title, figures) else 1


if __name__ == "__main__":
    sys.exit(main())
