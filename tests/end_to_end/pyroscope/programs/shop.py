"""Program under Pyroscope's client: python shop.py URL KEY SECONDS."""

import sys
import time

import pyroscope  # type: ignore[import-not-found]  # installed beside the program

url, key, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
# Options of version 1; version 0.8 sends every 10 s.
newer = {"upload_interval": 4, "mem_enabled": True}
pyroscope.configure(
    application_name="shop.python",
    server_address=url,
    basic_auth_username="shop",
    basic_auth_password=key,
    tenant_id="of-another",
    tags={"region": "eu/west 1", "service.version": "1.4+b", "hostname": "pod-1"},
    **(newer if hasattr(pyroscope, "ProfilerImplementation") else {}),
)
carts = []


def hot_function() -> int:
    total = 0
    for number in range(20_000):
        total += number * number
    return total


end = time.monotonic() + seconds
with pyroscope.tag_wrapper({"route": "/cart"}):
    while time.monotonic() < end:
        hot_function()
        carts.append(bytearray(2000))
        time.sleep(0.005)
pyroscope.shutdown()
