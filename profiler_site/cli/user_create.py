"""`flamewatch user create EMAIL --password-stdin [--admin]`: create an account."""

import sys
from argparse import Namespace

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from profiler_site.cli.command import CommandFailed, print_result
from projects import audit
from projects.models import User


def run(options: Namespace) -> int:
    password = sys.stdin.readline().rstrip("\n")
    _check(options.email, password)
    make = User.objects.create_superuser if options.admin else User.objects.create_user
    with transaction.atomic():
        user = make(options.email, password)
        audit.record_account(
            user, "user.create", actor=None, origin=audit.COMMAND_LINE, admin=options.admin
        )
    return print_result(
        options, f"Created the account {user.email}.", {"email": user.email, "admin": options.admin}
    )


def _check(email: str, password: str) -> None:
    try:
        validate_email(email)
        validate_password(password)
    except ValidationError as error:
        raise CommandFailed(" ".join(error.messages)) from None
    if User.objects.filter(email=email.lower()).exists():
        raise CommandFailed(f"An account for {email} already exists.")
