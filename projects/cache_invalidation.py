"""What changes in this process is seen at once in this process: caches forget on commit."""

from functools import partial

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from projects.credentials import authentication
from projects.models import ApiKey, Quota
from projects.registration import deployments
from projects.usage import limits


@receiver([post_save, post_delete], sender=ApiKey)
def forget_key(sender: type[ApiKey], instance: ApiKey, **kwargs: object) -> None:
    # Not before the commit: a look-up in between would read, and keep, the old row.
    transaction.on_commit(partial(authentication.forget, instance.key_id))


@receiver([post_save, post_delete], sender=Quota)
def forget_limits(sender: type[Quota], instance: Quota, **kwargs: object) -> None:
    transaction.on_commit(partial(limits.forget, instance.project_id))
    transaction.on_commit(deployments.forget_refusals)
