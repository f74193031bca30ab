"""`flamewatch login`: check a personal access token and store it."""

import sys
from argparse import ArgumentParser, Namespace
from getpass import getpass

from flamewatch_client import stored_login
from flamewatch_client.connection import TOKEN_PREFIX, ServerConnection, check_url
from flamewatch_client.errors import RequestFailed
from flamewatch_client.stored_login import Login
from flamewatch_client.terminal import print_json


def add_login(parser: ArgumentParser) -> None:
    parser.add_argument("server", nargs="?", metavar="URL", help="URL of the server")
    parser.add_argument(
        "--token-stdin", action="store_true", help="read the token from standard input"
    )


def store_token(options: Namespace) -> int:
    url = options.server or options.url
    if not url and not options.token_stdin:
        url = input("URL of the server: ").strip()
    url = check_url(url or "")
    if options.token_stdin:
        token = sys.stdin.readline().strip()
    else:
        print(f"Create a personal access token on {url}/account/tokens", file=sys.stderr)
        token = getpass("Token: ").strip()
    if not token.startswith(TOKEN_PREFIX):
        raise RequestFailed(f"A personal access token begins with {TOKEN_PREFIX}.")
    connection = ServerConnection(
        url, token, ca_file=options.ca_file or "", timeout=options.timeout
    )
    user = connection.get("user")
    path = stored_login.save(Login(url, token, options.project or "", options.ca_file or ""))
    if options.json:
        scopes = user["token"]["scopes"]
        return print_json({"url": url, "email": user["email"], "scopes": scopes})
    print(f"Signed in to {url} as {user['email']}. The token is stored in {path}.")
    return 0
