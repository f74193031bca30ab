"""`flamewatch login`: get a personal access token, by a code or as text, check and store it."""

import socket
import sys
import time
from argparse import ArgumentParser, Namespace
from getpass import getpass

from flamewatch_client import stored_login
from flamewatch_client.connection import TOKEN_PREFIX, ServerConnection, check_url
from flamewatch_client.errors import RequestFailed
from flamewatch_client.stored_login import Login
from flamewatch_client.terminal import print_json

_GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
_CLIENT = ("client_id", "flamewatch-cli")


def add_login(parser: ArgumentParser) -> None:
    parser.add_argument("server", nargs="?", metavar="URL", help="URL of the server")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--token-stdin", action="store_true", help="read a token from standard input"
    )
    source.add_argument(
        "--paste", action="store_true", help="ask for a token, instead of a code in the browser"
    )


def run_login(options: Namespace) -> int:
    url = options.server or options.url
    if not url and not options.token_stdin:
        url = input("URL of the server: ").strip()
    url = check_url(url or "")
    ca_file = options.ca_file or ""
    if options.token_stdin:
        token = sys.stdin.readline().strip()
    elif options.paste:
        print(f"Create a personal access token on {url}/account/tokens", file=sys.stderr)
        token = getpass("Token: ").strip()
    else:
        token = _confirm_in_browser(ServerConnection(url, "", "", ca_file, options.timeout))
    if not token.startswith(TOKEN_PREFIX):
        raise RequestFailed(f"A personal access token begins with {TOKEN_PREFIX}.")
    connection = ServerConnection(url, token, ca_file=ca_file, timeout=options.timeout)
    user = connection.get("user")
    path = stored_login.save(Login(url, token, options.project or "", ca_file))
    if options.json:
        scopes = user["token"]["scopes"]
        return print_json({"url": url, "email": user["email"], "scopes": scopes})
    print(f"Signed in to {url} as {user['email']}. The token is stored in {path}.")
    return 0


def _confirm_in_browser(connection: ServerConnection) -> str:
    """Show a code, wait until a person has confirmed it, and return the token (RFC 8628)."""
    begun = connection.post_form("/device/code", [_CLIENT, ("device_name", socket.gethostname())])
    if "device_code" not in begun:
        raise RequestFailed(str(begun.get("error_description") or begun))
    print(
        f"Open {begun['verification_uri_complete']}\n"
        f"and confirm the code {begun['user_code']}. Waiting…",
        file=sys.stderr,
    )
    interval = float(begun.get("interval", 5))
    pairs = [_CLIENT, ("grant_type", _GRANT_TYPE), ("device_code", str(begun["device_code"]))]
    deadline = time.monotonic() + float(begun["expires_in"])
    while time.monotonic() < deadline:
        time.sleep(interval)
        response = connection.post_form("/device/token", pairs)
        if "access_token" in response:
            return str(response["access_token"])
        if response.get("error") == "slow_down":
            interval += 5
        elif response.get("error") != "authorization_pending":
            raise RequestFailed(str(response.get("error_description") or response))
    raise RequestFailed("Nobody confirmed the code in time. Run `flamewatch login` again.")
