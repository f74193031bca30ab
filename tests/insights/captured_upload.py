"""A profile that an agent captures of a program and uploads to a server of the test."""

import base64
import os
import subprocess
from collections.abc import Sequence

from example_program import KEY
from fake_server import assigned, serving, throttled

from projects.profile_types import ProfileType


def capture_upload(command: Sequence[str], type_: ProfileType) -> bytes:
    """Run the program until its agent has uploaded a profile of 1.5 s; return it, compressed."""
    with serving() as (fake, url):
        fake.respond_with("POST", assigned(type_.value, "1.500s"), throttled("60s"))
        environment = os.environ | {
            "FLAMEWATCH_URL": url,
            "FLAMEWATCH_KEY": KEY,
            "FLAMEWATCH_SERVICE": "wastes",
        }
        with subprocess.Popen(command, env=environment) as program:
            try:
                [upload] = fake.wait_for("PATCH", 1)
            finally:
                program.kill()
    return base64.b64decode(upload.json["profileBytes"])
