"""Bytes that Pyroscope's generated Go client sends for Grafana's data source, and the responses.

The requests were recorded from the client of pyroscope/api 1.6.0; the fields are those that the
data source sets.
"""

import pytest

from tests.ingest.client import Client

pytestmark = pytest.mark.django_db(transaction=True)
_RANGE = (b"\x80\xd4\xcf\xc6\x9f\x34", b"\x80\xb1\xab\xc8\x9f\x34")  # varints of the hour, in ms
_ID = b"process_cpu:cpu:nanoseconds:cpu:nanoseconds"
_SHOP = b'\x15{service_name="shop"}'
_TYPES = [
    b"\n&memory:inuse_objects:count:space:bytes"
    b'\x12\x06memory"\rinuse_objects*\x05count2\x05space:\x05bytes',
    b"\n$memory:inuse_space:bytes:space:bytes"
    b'\x12\x06memory"\x0binuse_space*\x05bytes2\x05space:\x05bytes',
    b"\n+" + _ID + b'\x12\x0bprocess_cpu"\x03cpu*\x0bnanoseconds2\x03cpu:\x0bnanoseconds',
]
RECORDED = {
    "ProfileTypes": (
        b"\x08%b\x10%b" % _RANGE,
        b"".join(b"\n" + bytes([len(each)]) + each for each in _TYPES),
    ),
    "LabelNames": (
        b"\n%b\x10%b\x18%b" % (_SHOP, *_RANGE),
        b"\n\x10__profile_type__\n\x08instance\n\x0cservice_name\n\x0bthread_name"
        b"\n\x07version\n\x04zone",
    ),
    "LabelValues": (
        b"\n\x07version\x12%b\x18%b\x20%b" % (_SHOP, *_RANGE),
        b"\n\x011\n\x012",
    ),
    "SelectSeries": (
        b"\n+%b\x12%b\x18%b\x20%b*\x07version1\x00\x00\x00\x00\x00\x00N@H\nP\x01"
        % (_ID, _SHOP, *_RANGE),
        # 9e6 as a double at the minutes 0 and 1, and at 2 of the other version
        b"\n2\n\x0c\n\x07version\x12\x011"
        b"\x12\x10\t\x00\x00\x00\x00\x88\x2aaA\x10\x80\xd4\xcf\xc6\x9f\x34"
        b"\x12\x10\t\x00\x00\x00\x00\x88\x2aaA\x10\xe0\xa8\xd3\xc6\x9f\x34"
        b"\n \n\x0c\n\x07version\x12\x012"
        b"\x12\x10\t\x00\x00\x00\x00\x88\x2aaA\x10\xc0\xfd\xd6\xc6\x9f\x34",
    ),
    "SelectMergeStacktraces": (
        b"\n+%b\x12%b\x18%b\x20%b(\x80\x80\x01" % (_ID, _SHOP, *_RANGE),
        # total 27 ms; main 27 (self 6); foo1 12, foo2 9; bar 7.5 below either
        bytes.fromhex(
            "0a780a05746f74616c0a046d61696e0a04666f6f310a04666f6f320a0362617212090a0700c0f9ef"
            "0c0000120c0a0a00c0f9ef0c809bee020112180a16809bee0280b6dc05a0d492020200c0a8a504e0"
            "c65b03121b0a19a0ef8005e0e1c903e0e1c90304e0c65be0e1c903e0e1c9030418c0f9ef0c20e0e1"
            "c903"
        ),
    ),
}


@pytest.mark.parametrize("procedure", RECORDED)
def test_recorded_requests_get_these_bytes(procedure: str, shops: None, reader: Client) -> None:
    request, expected = RECORDED[procedure]
    response = reader.request(
        "POST",
        f"/querier.v1.QuerierService/{procedure}",
        content=request,
        headers={"content-type": "application/proto", "connect-protocol-version": "1"},
    )
    assert response.headers["content-type"] == "application/proto"
    assert response.content == expected
