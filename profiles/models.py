"""Where profiles are: rows of the head, each with its tree, or blocks of many in a blob."""

from django.db import models

from projects.models import Agent, Deployment, Project


class TimeSource(models.TextChoices):
    ASSIGNED = "assigned", "when it was assigned"
    PROFILE = "profile", "as the profile says"
    ARRIVAL = "arrival", "arrival minus duration"


class Profile(models.Model):
    """One stored profile. `service` repeats the deployment's, for the index that queries use."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE)
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True)
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)  # projects.profile_types.ProfileType
    time = models.DateTimeField()  # its start
    time_source = models.CharField(max_length=8, choices=TimeSource)
    duration_ns = models.BigIntegerField()
    labels = models.JSONField(default=dict)  # of the profile: {"instance": …}
    # The id in its name, `projects/{project}/profiles/{name_id}`: what an upload is known by.
    name_id = models.CharField(max_length=255)
    body_hash = models.BinaryField(max_length=16)  # BLAKE2b of the bytes as uploaded
    samples = models.PositiveIntegerField()
    weight = models.BigIntegerField()  # total of the type's default metric
    totals = models.JSONField()  # [[metric name, unit, total], …]
    tree = models.BinaryField()  # profiles.engine.encoding.codec
    stored_at = models.DateTimeField(auto_now_add=True)
    # Roll-up could not read it: it stays here, and questions name it.
    set_aside = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name_id"], name="profile_name_once")
        ]
        indexes = [
            models.Index(fields=["project", "service", "type", "time"], name="profile_by_time"),
            models.Index(fields=["deployment", "type", "time"], name="profile_by_deployment"),
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.type} {self.time:%F %T}"


class Blob(models.Model):
    """A run of bytes in the blob store that blocks are packed in."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    key = models.CharField(max_length=200, unique=True)
    size = models.BigIntegerField()  # bytes
    created = models.DateTimeField(auto_now_add=True)
    # Since when no block is in it: who planned to read it before may still do so for a while.
    dead_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.key


class BlockLevel(models.TextChoices):
    HOUR = "hour", "each profile by itself"
    DAY = "day", "sums"


class Block(models.Model):
    """Profiles of a service and type, start <= time < end, that left the head.

    A day block says again what the hour blocks say that it covers: of the two kinds a question
    reads one. docs/reference/formats.md has their bytes.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)
    level = models.CharField(max_length=4, choices=BlockLevel)
    # Made before its hour was over: it is joined with the rest when the hour is closed.
    is_part = models.BooleanField(default=False, db_default=False)
    start = models.DateTimeField()
    end = models.DateTimeField()
    blob = models.ForeignKey(Blob, on_delete=models.RESTRICT, related_name="blocks")
    offset = models.BigIntegerField()  # in the blob
    length = models.BigIntegerField()  # bytes
    profiles = models.PositiveIntegerField()
    first = models.DateTimeField()  # time of its earliest profile
    last = models.DateTimeField()
    summary = models.JSONField()  # profiles.storage.block_summary
    # How many of its bytes count for which day of arrival: {"2026-11-21": 4711}
    arrived = models.JSONField(default=dict)
    covered_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="covers"
    )
    created = models.DateTimeField(auto_now_add=True)
    set_aside = models.BooleanField(default=False)  # it cannot be read, and is left as it is

    class Meta:
        indexes = [
            models.Index(
                fields=["project", "service", "type", "level", "start"], name="block_by_start"
            ),
            models.Index(fields=["project", "level", "start"], name="block_of_project"),
            models.Index(fields=["project", "level", "last"], name="block_by_last"),
            models.Index(
                fields=["covered_by", "start"],
                name="block_part",
                condition=models.Q(is_part=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.type} {self.level} {self.start:%F %T}"


class KeptName(models.Model):
    """The name of a profile in a block that may be sent again at any time: it says no time itself.

    A profile with a time is looked for in the blocks of that time.
    """

    block = models.ForeignKey(Block, on_delete=models.CASCADE, related_name="kept_names")
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    name_id = models.CharField(max_length=255)

    class Meta:
        indexes = [models.Index(fields=["project", "name_id"], name="kept_name")]

    def __str__(self) -> str:
        return self.name_id


class Lease(models.Model):
    """Who does a job now, so that others leave it alone; what they would do twice is harmless."""

    job = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=32)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.job
