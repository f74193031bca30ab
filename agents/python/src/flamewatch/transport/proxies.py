"""Proxy selection by HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY. Pure."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Proxy:
    host: str
    port: int
    headers: dict[str, str] = field(repr=False)  # Proxy-Authorization, if the URL has a user


def proxy_for(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy, or None for a direct connection. An unreadable proxy URL is ignored."""
    if _is_excluded(host, port, _setting(environ, "no_proxy")):
        return None
    text = _setting(environ, f"{scheme}_proxy") or _setting(environ, "all_proxy")
    return _read(text) if text else None


def _setting(environ: Mapping[str, str], name: str) -> str:
    # Under CGI a request header can set HTTP_PROXY, so the upper-case name is not read there.
    capitals = "" if name == "http_proxy" and "REQUEST_METHOD" in environ else name.upper()
    return (environ.get(name) or environ.get(capitals, "")).strip()


def _is_excluded(host: str, port: int, no_proxy: str) -> bool:
    """Return whether NO_PROXY excludes the host.

    `example.org` and `.example.org` include subdomains; `host:port` limits an entry to a port; `*`
    excludes all hosts.
    """
    for entry in no_proxy.lower().split(","):
        name, _, only_port = entry.strip().rpartition(":")
        if not name or not only_port.isdigit():
            name, only_port = entry.strip(), ""
        name = name.lstrip(".").strip("[]")
        matches = name == "*" or (name and (host == name or host.endswith(f".{name}")))
        if matches and only_port in {"", str(port)}:
            return True
    return False


def _read(text: str) -> Proxy | None:
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        return None
    if not host or parts.scheme != "http":  # neither SOCKS nor TLS to the proxy is supported
        return None
    if parts.username is None:
        return Proxy(host, port, {})
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    token = base64.b64encode(user.encode()).decode()
    return Proxy(host, port, {"Proxy-Authorization": f"Basic {token}"})
