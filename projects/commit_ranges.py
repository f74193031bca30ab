"""Links to the commits between two versions, in the repository of a project."""

import re
from urllib.parse import quote, urlsplit

# Path of a file at a version, up to the version's own segment, as GitHub, GitLab, and Gitea and
# Forgejo have it; and the path of a comparison.
_HOSTS = (
    (re.compile(r"(/.+)/-/blob"), "{repository}/-/compare/{base}...{head}"),
    (
        re.compile(r"(/[^/]+/[^/]+)/src/(?:commit|tag|branch)"),
        "{repository}/compare/{base}...{head}",
    ),
    (re.compile(r"(/[^/]+/[^/]+)/blob"), "{repository}/compare/{base}...{head}"),
)
_VERSION = "{version}"
_DESCRIBED = re.compile(r".*-\d+-g([0-9a-f]{7,40})")  # by `git describe`


def build_compare_url(template: str, base: str, head: str) -> str:
    """Return the address of the changes from one version to another.

    `template` is a valid source link template. The result is "" if it names no version, or is not
    of a known host's form, or a version is empty.
    """
    before, found, _ = template.partition(_VERSION)
    if not found or not base or not head:
        return ""
    path, _, prefix = before.rpartition("/")  # a template may have v{version}
    address = urlsplit(path)
    for form, comparison in _HOSTS:
        if match := form.fullmatch(address.path):
            refs = {"base": _build_ref(prefix, base), "head": _build_ref(prefix, head)}
            compared = comparison.format(repository=match[1], **refs)
            return f"{address.scheme}://{address.netloc}{compared}"
    return ""


def _build_ref(prefix: str, version: str) -> str:
    described = _DESCRIBED.fullmatch(version)
    return quote(described[1] if described else prefix + version, safe="")
