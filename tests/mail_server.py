"""Mail server for tests: takes messages over SMTP on loopback, and keeps them."""

import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from tests.waiting import until


class ReceivedMail:
    """Messages in the order of their arrival."""

    def __init__(self) -> None:
        self.port = 0
        self.messages: list[EmailMessage] = []

    def find(self, to: str, subject: str) -> EmailMessage | None:
        """Return the newest message to an address whose subject has a text."""
        for message in reversed(self.messages):
            if to in str(message["To"]) and subject in str(message["Subject"]):
                return message
        return None

    def wait_for_link(self, to: str, subject: str, pattern: str) -> str:
        """Return the path of a link in the text of a message, which may still be under way."""
        message = until(lambda: self.find(to, subject), 60, f"message {subject!r} to {to}")
        body = message.get_body(("plain",))
        assert body is not None
        found = re.search(rf"https?://[^/\s]+({pattern})", body.get_content())
        assert found is not None, body.get_content()
        return found[1]


@contextmanager
def serve_mail() -> Iterator[ReceivedMail]:
    received = ReceivedMail()

    class SmtpHandler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 test")
            for line in self.rfile:
                command = line[:4].upper()
                if command in (b"EHLO", b"HELO"):
                    self.say("250 test")
                elif command == b"DATA":
                    self.say("354 go on")
                    received.messages.append(self.read_message())
                    self.say("250 taken")
                elif command == b"QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 taken")

        def read_message(self) -> EmailMessage:
            lines: list[bytes] = []
            for line in self.rfile:
                if line == b".\r\n":
                    break
                lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
            message = message_from_bytes(b"".join(lines), policy=default)
            assert isinstance(message, EmailMessage)
            return message

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), SmtpHandler) as server:
        received.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield received
        finally:
            server.shutdown()
            thread.join()
