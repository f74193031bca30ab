"""Server in a process of its own that stores pushed profiles: `receiving_server.py FOLDER`.

Prints its port. The body of each POST becomes a file in the folder. A handshake of the Flamewatch
agent is parked, as by a server that requests no profile.
"""

from __future__ import annotations

import itertools
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PARKED_SECONDS = 50
NO_PROFILE = (
    b'{"error":{"code":409,"status":"ABORTED","message":"none wanted","details":'
    b'[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}'
)


class ReceivingHandler(BaseHTTPRequestHandler):
    folder: Path
    numbers = itertools.count()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/v2/"):
            time.sleep(PARKED_SECONDS)
            self._respond(409, NO_PROFILE)
            return
        unfinished = self.folder / "unfinished"
        unfinished.write_bytes(body)
        unfinished.rename(self.folder / f"{next(self.numbers)}.pushed")
        self._respond(200, b"{}")

    def _respond(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the only output is the port."""


if __name__ == "__main__":
    ReceivingHandler.folder = Path(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), ReceivingHandler)
    print(server.server_port, flush=True)
    server.serve_forever()
