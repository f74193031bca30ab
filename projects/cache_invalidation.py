"""Invalidate this process's caches when a row that they hold changes, after the commit."""

from functools import partial

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from projects.credentials import access_tokens, authentication
from projects.models import AccessToken, ApiKey, Plan, Project, Quota
from projects.registration import deployments
from projects.usage import limits


@receiver([post_save, post_delete], sender=ApiKey)
def forget_key(sender: type[ApiKey], instance: ApiKey, **kwargs: object) -> None:
    # Only after the commit: an earlier lookup would read the old row and cache it.
    transaction.on_commit(partial(authentication.forget, instance.key_id))


@receiver([post_save, post_delete], sender=AccessToken)
def forget_token(sender: type[AccessToken], instance: AccessToken, **kwargs: object) -> None:
    transaction.on_commit(partial(access_tokens.forget, instance.token_id))


@receiver([post_save, post_delete], sender=Project)
def forget_project(sender: type[Project], instance: Project, **kwargs: object) -> None:
    """Forget the keys, which carry the suspension, and the limits, which depend on the plan."""
    transaction.on_commit(partial(authentication.forget_project, instance.pk))
    transaction.on_commit(partial(limits.forget, instance.pk))


@receiver([post_save, post_delete], sender=Plan)
def forget_plan(sender: type[Plan], instance: Plan, **kwargs: object) -> None:
    transaction.on_commit(partial(limits.forget, None))
    transaction.on_commit(deployments.clear_rejections)


@receiver([post_save, post_delete], sender=Quota)
def forget_limits(sender: type[Quota], instance: Quota, **kwargs: object) -> None:
    transaction.on_commit(partial(limits.forget, instance.project_id))
    transaction.on_commit(deployments.clear_rejections)
