"""Program with a known hot function, profiled by google-cloud-profiler.

main.py URL PROJECT KEY_FILE
"""

import sys
import time

import googlecloudprofiler


def hot_loop() -> int:
    end, total = time.monotonic() + 0.2, 0
    while time.monotonic() < end:
        total += sum(number * number for number in range(1000))
    return total


def main() -> None:
    url, project, key_file = sys.argv[1:]
    googlecloudprofiler.start(
        service="python-shop",
        service_version="1.0",
        project_id=project,
        service_account_json_file=key_file,
        discovery_service_url=f"{url}/$discovery/rest?version=v2",
        verbose=3,
    )
    while True:
        hot_loop()
        time.sleep(0.01)


if __name__ == "__main__":
    main()
