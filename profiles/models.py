"""Stored profiles: rows of the head with one call tree each, and blocks packed in blobs."""

from enum import IntEnum

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models import Agent, Deployment, Project


class TimeSource(models.TextChoices):
    ASSIGNED = "assigned", "when it was assigned"
    PROFILE = "profile", "as the profile says"
    ARRIVAL = "arrival", "arrival minus duration"


class Profile(models.Model):
    """Profile in the head. `service` duplicates the deployment's, for the index of queries."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE)
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True)
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)  # projects.profile_types.ProfileType
    time = models.DateTimeField()  # start of the capture
    time_source = models.CharField(max_length=8, choices=TimeSource)
    duration_ns = models.BigIntegerField()
    labels = models.JSONField(default=dict)  # labels of the whole profile: {"instance": …}
    # Last part of the profile's name, `projects/{project}/profiles/{name_id}`, by which repeated
    # uploads are recognised.
    name_id = models.CharField(max_length=255)
    body_hash = models.BinaryField(max_length=16)  # profiles.storage.profile_content.hash_body
    samples = models.PositiveIntegerField()
    weight = models.BigIntegerField()  # total of the type's default metric
    totals = models.JSONField()  # [[metric name, unit, total], …]
    tree = models.BinaryField()  # profiles.engine.encoding.codec
    stored_at = models.DateTimeField(auto_now_add=True)
    # Compaction could not read the row. It stays in the head, and queries report it.
    quarantined = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name_id"], name="profile_name_once")
        ]
        indexes = [
            models.Index(fields=["project", "service", "type", "time"], name="profile_by_time"),
            models.Index(fields=["deployment", "type", "time"], name="profile_by_deployment"),
            models.Index(  # of few rows, for metrics
                fields=["id"], name="quarantined_profiles", condition=models.Q(quarantined=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.type} {self.time:%F %T}"


class Blob(models.Model):
    """Object in the blob store, which contains one block or more."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    key = models.CharField(max_length=200, unique=True)
    size = models.BigIntegerField()  # bytes
    created = models.DateTimeField(auto_now_add=True)
    # Time at which the blob lost its last block. The blob itself is deleted some
    # time later (profiles/compaction/blob_sweep.py): queries planned before may still read it.
    dead_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.key


class BlockLevel(IntEnum):
    """Level of a block. The database has it as `Block.resolution` and `Block.is_level0`."""

    LEVEL_0 = 0  # part of an hour, or late profiles of one hour or several
    LEVEL_1 = 1  # one hour or several adjacent ones
    LEVEL_2 = 2  # sums over a day


class Resolution(models.TextChoices):
    """Resolution of a block. It is the key by which queries find blocks in the indexes."""

    PROFILE = "hour", "each profile by itself"  # levels 0 and 1
    DAY = "day", "sums"  # level 2


class Block(models.Model):
    """Profiles of one service and type, start <= time < end, that compaction took from the head.

    A day block contains sums over hour blocks, which refer to it; a query reads either the day
    block or those hour blocks. docs/reference/formats.md describes the bytes.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)
    resolution = models.CharField(max_length=4, choices=Resolution)
    # Compaction of the whole hours replaces a level-0 block.
    is_level0 = models.BooleanField(default=False, db_default=False)
    start = models.DateTimeField()
    end = models.DateTimeField()
    blob = models.ForeignKey(Blob, on_delete=models.RESTRICT, related_name="blocks")
    offset = models.BigIntegerField()  # in the blob
    length = models.BigIntegerField()  # bytes
    profiles = models.PositiveIntegerField()
    first = models.DateTimeField()  # time of its earliest profile
    last = models.DateTimeField()
    summary = models.JSONField()  # profiles.storage.block_summary
    # The block's bytes by the day on which its profiles arrived: {"2026-11-21": 4711}
    arrived = models.JSONField(default=dict)
    # Block of level 2 that sums this hour block.
    day_block = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        related_name="hour_blocks",
    )
    created = models.DateTimeField(auto_now_add=True)
    # Unreadable; never compacted.
    quarantined = models.BooleanField(default=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["project", "service", "type", "resolution", "start"], name="block_by_start"
            ),
            models.Index(fields=["project", "resolution", "start"], name="block_of_project"),
            models.Index(fields=["project", "resolution", "last"], name="block_by_last"),
            models.Index(
                fields=["day_block", "start"],
                name="block_part",
                condition=models.Q(is_level0=True),
            ),
            models.Index(
                fields=["id"], name="quarantined_blocks", condition=models.Q(quarantined=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.type} level {self.level} {self.start:%F %T}"

    @property
    def level(self) -> BlockLevel:
        if self.resolution == Resolution.DAY:
            return BlockLevel.LEVEL_2
        return BlockLevel.LEVEL_0 if self.is_level0 else BlockLevel.LEVEL_1


class DeduplicationKey(models.Model):
    """Index from the name of a profile to its block, for profiles timed by their arrival.

    Such a profile (`TimeSource.ARRIVAL`) has no time of its own and may be uploaded again at any
    time, so deduplication needs its name. Other profiles are searched for in the blocks of their
    time.
    """

    block = models.ForeignKey(Block, on_delete=models.CASCADE, related_name="deduplication_keys")
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    name_id = models.CharField(max_length=255)

    class Meta:
        indexes = [models.Index(fields=["project", "name_id"], name="deduplication_key_by_name")]

    def __str__(self) -> str:
        return self.name_id


class Lease(models.Model):
    """Lease of a background job by one worker, which saves others from repeating the job.

    Correctness does not depend on leases: jobs are idempotent.
    """

    job = models.CharField(max_length=100, primary_key=True)
    holder = models.CharField(max_length=32)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.job


class SavedTreeKind(models.TextChoices):
    SELECTION = "selection", _("Selection")
    FILE = "file", _("File")


class ResultSnapshot(models.Model):
    """Merged call tree of a selection, or that of a file, stored until somebody deletes it.

    The profiles of the selection may have been deleted by retention since.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, verbose_name=_("project"))
    snapshot_id = models.CharField(max_length=16, unique=True)  # random, part of URLs
    kind = models.CharField(_("kind"), max_length=9, choices=SavedTreeKind)
    title = models.CharField(_("title"), max_length=200)
    service = models.CharField(_("service"), max_length=255, blank=True)  # "" for a file
    type = models.CharField(_("profile type"), max_length=10)  # projects.profile_types.ProfileType
    start = models.DateTimeField(_("start"))
    end = models.DateTimeField(_("end"))
    # Query string of the flame page, with an absolute range: what was selected, and the view.
    query = models.TextField(_("parameters"), blank=True)
    metrics = models.JSONField()  # [[name, unit], …], the default one first
    profiles = models.PositiveIntegerField(_("profiles"))
    duration_ns = models.BigIntegerField()  # Σ over the profiles
    # Matching profiles that are not in the tree.
    left_out = models.PositiveIntegerField(_("profiles left out"), default=0)
    warnings = models.JSONField(default=list)  # sentences about what a file lacks
    # One call tree of all metrics (profiles.engine.encoding.codec) is the whole blob.
    blob = models.OneToOneField(Blob, on_delete=models.RESTRICT)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        verbose_name=_("created by"),
    )

    class Meta:
        verbose_name = _("snapshot")
        verbose_name_plural = _("snapshots")
        indexes = [models.Index(fields=["project", "created"], name="snapshot_by_creation")]

    def __str__(self) -> str:
        return self.title


class DeletionScope(models.TextChoices):
    SELECTION = "selection", _("Selection")
    SERVICE = "service", _("Service")
    PROJECT = "project", _("Project")


class DeletionState(models.TextChoices):
    PENDING = "pending", _("Waiting to start")
    DELETING = "deleting", _("Deleting profiles")
    # No row refers to the profiles any more; their bytes are in blobs that queries may still read.
    ERASING = "erasing", _("Erasing storage")
    DONE = "done", _("Done")
    CANCELED = "canceled", _("Canceled")


class DeletionJob(models.Model):
    """Deletion of a project's data, which profiles.deletion.runner performs in steps.

    The names of the selection are erased when the job is done; the audit log still has them.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, verbose_name=_("project"))
    scope = models.CharField(_("scope"), max_length=9, choices=DeletionScope)
    state = models.CharField(
        _("state"), max_length=8, choices=DeletionState, default=DeletionState.PENDING
    )
    # Selection: an empty or null field does not restrict it. "" is a zone and a version.
    service = models.CharField(_("service"), max_length=255, blank=True)
    type = models.CharField(_("profile type"), max_length=10, blank=True)
    zone = models.CharField(_("zone"), max_length=512, null=True, blank=True)  # noqa: DJ001
    version = models.CharField(_("version"), max_length=512, null=True, blank=True)  # noqa: DJ001
    start = models.DateTimeField(_("start"), null=True, blank=True)  # start <= time < end
    end = models.DateTimeField(_("end"), null=True, blank=True)
    requested = models.DateTimeField(_("requested"))
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("requested by"),
    )
    request_entry = models.BigIntegerField()  # AuditEntry.pk
    due = models.DateTimeField(_("starts"))  # it can be canceled until then
    # Time at which the last profile of the running pass was deleted.
    erasing_since = models.DateTimeField(null=True)
    finished = models.DateTimeField(_("finished"), null=True)
    # Progress of the running pass over the blocks: Block.pk of the last one that was checked.
    cursor = models.BigIntegerField(default=0)
    passes = models.PositiveIntegerField(default=0)  # that are complete
    has_deleted = models.BooleanField(default=False)  # in the running pass
    expected_profiles = models.PositiveBigIntegerField(_("expected profiles"), default=0)
    profiles = models.PositiveBigIntegerField(_("profiles"), default=0)
    bytes = models.PositiveBigIntegerField(_("bytes"), default=0)
    problem = models.CharField(_("problem"), max_length=500, blank=True)  # of the last step

    class Meta:
        verbose_name = _("deletion")
        verbose_name_plural = _("deletions")
        indexes = [
            models.Index(fields=["project", "requested"], name="deletion_by_project"),
            models.Index(fields=["state", "due"], name="deletion_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.get_scope_display()} {self.requested:%F %T}"


class ExportState(models.TextChoices):
    PENDING = "pending", _("Waiting to start")
    RUNNING = "running", _("Exporting")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELED = "canceled", _("Canceled")
    EXPIRED = "expired", _("Expired")


class ExportJob(models.Model):
    """Export of a project as an archive, which profiles.project_export.runner makes in steps."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, verbose_name=_("project"))
    state = models.CharField(
        _("state"), max_length=8, choices=ExportState, default=ExportState.PENDING
    )
    requested = models.DateTimeField(_("requested"))  # later profiles are not in the archive
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("requested by"),
    )
    finished = models.DateTimeField(_("finished"), null=True)
    expires = models.DateTimeField(_("expires"), null=True)  # the archive is deleted then
    # Last group of profiles that is in a part: service, type, start of the hour, group.
    cursor = models.JSONField(default=dict)
    files = models.PositiveIntegerField(default=0)
    profiles = models.PositiveBigIntegerField(_("profiles"), default=0)
    bytes = models.PositiveBigIntegerField(_("bytes"), default=0)
    problem = models.CharField(_("problem"), max_length=500, blank=True)  # of the last step

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        indexes = [models.Index(fields=["project", "requested"], name="export_by_project")]
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(state__in=["pending", "running"]),
                name="one_running_export",
            )
        ]

    def __str__(self) -> str:
        return f"{self.requested:%F %T}"


class ExportPart(models.Model):
    """Part of an archive; the bytes of all parts by number are the tar file."""

    job = models.ForeignKey(ExportJob, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    blob = models.OneToOneField(Blob, on_delete=models.RESTRICT)
    index = models.TextField(blank=True)  # lines of profiles.jsonl about the files in it

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="export_part_once")]

    def __str__(self) -> str:
        return str(self.number)
