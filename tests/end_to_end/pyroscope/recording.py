"""Record what Pyroscope's clients send, for tests/ingest/pyroscope/recorded.

python -m tests.end_to_end.pyroscope.recording FOLDER [CLIENT ...]

Each request becomes NAME.json (path and headers, without credentials) and NAME.body.
"""

import itertools
import json
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.end_to_end.pyroscope.clients import CLIENTS

SECONDS = 14.0
_SECRET = {"authorization", "host", "x-scope-orgid"}
_OF_CONNECTION = {"connection", "content-length", "transfer-encoding"}


def record(client: str, folder: Path) -> None:
    """Run a client's program against a server that stores its requests in the folder."""
    numbers = itertools.count(1)

    class Recorder(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            path = folder / f"{client}-{next(numbers)}"
            path.with_suffix(".body").write_bytes(self._body())
            headers = {name.lower(): value for name, value in self.headers.items()}
            for name in _SECRET | _OF_CONNECTION:
                headers.pop(name, None)
            request = {"path": self.path, "headers": headers}
            path.with_suffix(".json").write_text(json.dumps(request, indent=2) + "\n")
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers["Content-Length"]))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with tempfile.TemporaryDirectory(prefix="shop-") as name:
            CLIENTS[client].install(Path(name))
            program = CLIENTS[client].program(url, "key", SECONDS)
            code = program.start(Path(name), Path(name, "log")).wait()
            print(client, "ended with", code)
        server.shutdown()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for chosen in sys.argv[2:] or CLIENTS:
        record(chosen, target)
