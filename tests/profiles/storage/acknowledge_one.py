"""Store one profile in a new database, report it, and wait to be killed."""

import asyncio
import sys
import time

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from profiles.storage import head  # noqa: E402
from projects.models import User  # noqa: E402
from projects.project_ids import create_project  # noqa: E402
from tests.profiles import rows  # noqa: E402

call_command("migrate", verbosity=0)
project = create_project("Shop", User.objects.create_user("alice@example.org", "x" * 12))
new = rows.new(rows.deployment(project), name_id="acknowledged")
assert asyncio.run(head.store(new))
sys.stdout.write("stored\n")
sys.stdout.flush()
time.sleep(60)
