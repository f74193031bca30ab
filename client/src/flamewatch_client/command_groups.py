"""Groups of commands: the first word of `flamewatch keys list` and its like."""

from argparse import ArgumentParser, _SubParsersAction


def add_group(
    commands: "_SubParsersAction[ArgumentParser]", name: str, help_text: str
) -> "_SubParsersAction[ArgumentParser]":
    """Return the commands of a group, which is added unless it exists."""
    group = commands.choices.get(name) or commands.add_parser(name, help=help_text)
    for action in group._actions:
        if isinstance(action, _SubParsersAction):
            return action
    return group.add_subparsers(required=True, metavar="COMMAND")
