"""Account, project, key and quotas that the environment names for the first start.

Only what does not exist is created, and nothing that exists is changed.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from profiler_site.configuration import env
from profiler_site.configuration.env import BadSetting
from profiler_site.process.migration import lock_database
from projects import audit
from projects.account_limits import LimitReached
from projects.credentials import keys
from projects.models import ApiKey, Project, Quota, User
from projects.models.project import PROJECT_ID
from projects.project_ids import create_project
from projects.usage.limits import LimitName

_EMAIL = "FLAMEWATCH_INIT_USER_EMAIL"
_PASSWORD, _PASSWORD_FILE = "FLAMEWATCH_INIT_USER_PASSWORD", "FLAMEWATCH_INIT_USER_PASSWORD_FILE"
_PROJECT, _PROJECT_NAME = "FLAMEWATCH_INIT_PROJECT_ID", "FLAMEWATCH_INIT_PROJECT_NAME"
_KEY, _KEY_FILE = "FLAMEWATCH_INIT_API_KEY", "FLAMEWATCH_INIT_API_KEY_FILE"
_QUOTAS = {
    "FLAMEWATCH_INIT_QUOTA_PROFILES_PER_MINUTE": LimitName.PROFILES_PER_MINUTE,
    "FLAMEWATCH_INIT_QUOTA_PROFILES_PER_DAY": LimitName.PROFILES_PER_DAY,
    "FLAMEWATCH_INIT_QUOTA_NEW_DEPLOYMENTS_PER_DAY": LimitName.NEW_DEPLOYMENTS_PER_DAY,
    "FLAMEWATCH_INIT_QUOTA_STORED_BYTES": LimitName.STORED_BYTES,
    "FLAMEWATCH_INIT_QUOTA_BYTES_PER_PROFILE": LimitName.BYTES_PER_PROFILE,
    "FLAMEWATCH_INIT_QUOTA_PARKED_HANDSHAKES": LimitName.PARKED_HANDSHAKES,
    "FLAMEWATCH_INIT_QUOTA_RETENTION_DAYS": LimitName.RETENTION_DAYS,
}
# Each needs one of the others: an account has a password, a project an owner, a key a project.
_NEEDS = {
    _EMAIL: (_PASSWORD, _PASSWORD_FILE),
    _PASSWORD: (_EMAIL,),
    _PASSWORD_FILE: (_EMAIL,),
    _PROJECT: (_EMAIL,),
    _PROJECT_NAME: (_PROJECT,),
    _KEY: (_PROJECT,),
    _KEY_FILE: (_PROJECT,),
    **dict.fromkeys(_QUOTAS, (_PROJECT,)),
}
_MAX_SECRET_BYTES = 4096  # of a file with a secret
_KEY_NAME = "initialization"
# They count as known also in processes that do not read them.
env.read_names.update(_NEEDS)


@dataclass(frozen=True, slots=True)
class Initialization:
    """Objects to create; "" and empty for those that the environment does not name."""

    email: str = ""
    password: str = field(default="", repr=False)
    project_id: str = ""
    project_name: str = ""
    key: str = field(default="", repr=False)
    quotas: Mapping[LimitName, int] = field(default_factory=dict)


def read_initialization() -> Initialization:
    """Read and check the variables. Raise BadSetting, which never quotes a secret."""
    for name, needed in _NEEDS.items():
        if os.environ.get(name) and not any(os.environ.get(each) for each in needed):
            raise BadSetting(f"{name} needs {' or '.join(needed)}.")
    if not env.text(_EMAIL, ""):
        return Initialization()
    email = _read_email()
    project_id = env.text(_PROJECT, "")
    if project_id and not re.fullmatch(PROJECT_ID, project_id):
        raise BadSetting(
            f"{_PROJECT} is {project_id[:60]!r}; it has to have 6 to 30 lower-case letters, digits"
            " and hyphens, with a letter first and no hyphen last."
        )
    return Initialization(
        email=email,
        password=_read_password(email),
        project_id=project_id,
        project_name=_read_project_name(project_id),
        key=_read_key(),
        quotas=_read_quotas(),
    )


def initialize() -> None:
    """Create what the environment names and the database lacks.

    Of several processes, the others wait, and find it created. Raise BadSetting for a value that
    cannot be used with what exists.
    """
    params = read_initialization()
    if not params.email:
        return
    try:
        with lock_database(), transaction.atomic():
            owner = _get_or_create_user(params)
            if params.project_id:
                project = _get_or_create_project(params, owner)
                if params.key:
                    _ensure_key(params.key, project)
    except LimitReached as reached:
        raise BadSetting(f"The initialization (FLAMEWATCH_INIT_…) failed: {reached}") from None


def _read_email() -> str:
    email = env.text(_EMAIL, "").strip()
    try:
        validate_email(email)
    except ValidationError:
        raise BadSetting(f"{_EMAIL} is {email[:100]!r}, which is no e-mail address.") from None
    return email.lower()


def _read_password(email: str) -> str:
    password = _read_secret(_PASSWORD, _PASSWORD_FILE)
    try:
        validate_password(password, User(email=email))
    except ValidationError as error:
        raise BadSetting(f"{_PASSWORD} cannot be used: {' '.join(error.messages)}") from None
    return password


def _read_project_name(project_id: str) -> str:
    name = env.text(_PROJECT_NAME, project_id).strip()
    try:
        return str(Project._meta.get_field("name").clean(name, None)) if project_id else ""
    except ValidationError as error:
        raise BadSetting(f"{_PROJECT_NAME}: {' '.join(error.messages)}") from None


def _read_key() -> str:
    text = _read_secret(_KEY, _KEY_FILE)
    try:
        if text:
            keys.parse(text)
    except keys.MalformedKey:
        raise BadSetting(
            f"{_KEY} is no API key of Flamewatch. `flamewatch key generate` prints a new one."
        ) from None
    return text


def _read_quotas() -> dict[LimitName, int]:
    given = {name: env.integer(name, 0) for name in _QUOTAS if env.text(name, "")}
    quotas = {_QUOTAS[name]: value for name, value in given.items()}
    try:
        Quota(**quotas).clean_fields(exclude=["project"])
    except ValidationError as error:
        field_name, messages = next(iter(error.message_dict.items()))
        name = next(name for name, limit in _QUOTAS.items() if limit == field_name)
        raise BadSetting(f"{name} is {given[name]}: {' '.join(messages)}") from None
    return quotas


def _read_secret(name: str, file_name: str) -> str:
    """Return the value of a variable, or the first line of the file that another one names."""
    path = env.text(file_name, "")
    if not path:
        return env.text(name, "")
    if env.text(name, ""):
        raise BadSetting(f"{name} and {file_name} are both set; set one of them.")
    try:
        with Path(path).open("rb") as file:
            return file.read(_MAX_SECRET_BYTES).decode().partition("\n")[0].rstrip("\r")
    except OSError as error:
        raise BadSetting(f"{file_name} is {path!r}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadSetting(f"{file_name} is {path!r}, which is no text in UTF-8.") from None


def _get_or_create_user(params: Initialization) -> User:
    user = User.objects.filter(email=params.email).first()
    if user is None:
        user = User.objects.create_user(params.email, params.password)
        audit.record_account(user, "user.create", actor=None, origin=audit.SYSTEM, admin=False)
    return user


def _get_or_create_project(params: Initialization, owner: User) -> Project:
    """Return the project; a new one gets its owner and its quotas."""
    project = Project.objects.filter(project_id=params.project_id).first()
    if project is not None:
        return project
    project = create_project(
        params.project_name, owner, project_id=params.project_id, origin=audit.SYSTEM
    )
    if params.quotas:
        values = {name.value: value for name, value in params.quotas.items()}
        Quota.objects.create(project=project, **values)
        changes = {name: [None, value] for name, value in values.items()}
        audit.record(
            project, "quota.change", origin=audit.SYSTEM, target=project.name, changes=changes
        )
    return project


def _ensure_key(text: str, project: Project) -> None:
    """Create the key, with which agents may send profiles, unless it exists or was revoked."""
    parts = keys.parse(text)
    row = ApiKey.objects.filter(key_id=parts.key_id).first()
    if row is None:
        keys.create(project, _KEY_NAME, text=text, origin=audit.SYSTEM)
    elif row.project_id != project.pk or not keys.matches(parts.secret, row.secret_hash):
        raise BadSetting(
            f"{_KEY} has the prefix of another key. `flamewatch key generate` prints a new one."
        )
