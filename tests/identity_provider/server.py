"""Real OpenID provider for tests: django-allauth's, in a process and a data folder of its own."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.services import begin_server, free_port, stop_server, wait_for_port

CLIENT_ID = "flamewatch"
CLIENT_SECRET = "of the client"
PASSWORD = "for the provider alone"
_ADD_CLIENT = """
from allauth.idp.oidc.models import Client
client = Client(id={id!r}, name="Flamewatch", scopes="openid\\nprofile\\nemail",
    redirect_uris={redirect!r})
client.set_secret({secret!r})
client.save()
"""
_ADD_PERSON = """
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
person = User.objects.create_user({email!r}, {email!r}, {password!r})
EmailAddress.objects.create(user=person, email={email!r}, verified={verified!r}, primary=True)
print(person.pk)
"""
_CHANGE_ADDRESS = """
from allauth.account.models import EmailAddress
EmailAddress.objects.filter(email={old!r}).update(email={new!r})
"""


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """Running provider; its people sign in with PASSWORD."""

    url: str
    environment: dict[str, str]

    def add_client(self, redirect: str) -> None:
        """Register the client, whose callback has this URL."""
        self._run(_ADD_CLIENT.format(id=CLIENT_ID, redirect=redirect, secret=CLIENT_SECRET))

    def add_person(self, email: str, *, verified: bool = True) -> str:
        """Create an account; return the `sub` of its ID tokens."""
        return self._run(_ADD_PERSON.format(email=email, password=PASSWORD, verified=verified))

    def change_address(self, old: str, new: str) -> None:
        self._run(_CHANGE_ADDRESS.format(old=old, new=new))

    def _run(self, code: str) -> str:
        command = [sys.executable, "-m", "django", "shell", "--no-imports", "-c", code]
        done = subprocess.run(
            command, env=self.environment, text=True, capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()


@contextmanager
def running_provider() -> Iterator[IdentityProvider]:
    with tempfile.TemporaryDirectory(prefix="identity-provider-") as name:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        folder, port = Path(name), free_port()
        (folder / "key.pem").write_bytes(pem)
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "tests.identity_provider.settings",
            "IDENTITY_PROVIDER_FOLDER": name,
            "OAUTHLIB_INSECURE_TRANSPORT": "1",  # loopback has no TLS
        }
        django = [sys.executable, "-m", "django"]
        subprocess.run([*django, "migrate", "--verbosity=0"], env=environment, check=True)
        with (folder / "log").open("w") as log:
            server = begin_server(
                [*django, "runserver", "--noreload", f"127.0.0.1:{port}"],
                env=environment,
                stdout=log,
                stderr=log,
            )
        try:
            wait_for_port(port, server, 60)
            yield IdentityProvider(f"http://127.0.0.1:{port}", environment)
        finally:
            stop_server(server, signal.SIGTERM)
