"""`flamewatch user password EMAIL --password-stdin`: set an account's password."""

import sys
from argparse import Namespace

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from profiler_site.cli.command import CommandFailed, print_result
from projects import audit
from projects.models import User


def run(options: Namespace) -> int:
    password = sys.stdin.readline().rstrip("\n")
    user = User.objects.filter(email=options.email.lower()).first()
    if user is None:
        raise CommandFailed(f"No account for {options.email}.")
    _set(user, password)
    return print_result(options, f"Set the password of {user.email}.", {"email": user.email})


def _set(user: User, password: str) -> None:
    """Validate and set the password.

    This ends the user's existing sessions, which contain a hash of the old password.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandFailed(" ".join(error.messages)) from None
    user.set_password(password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        audit.record_account(user, "account.password_change", actor=None, origin=audit.COMMAND_LINE)
