"""Completion of commands and options in bash, zsh and fish."""

from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator

_BASH = """\
_flamewatch() {{
    local word path="" each
    for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$each" in -*) ;; *) case " {groups} " in *" ${{path:+$path/}}$each "*)
            path="${{path:+$path/}}$each";; esac;; esac
    done
    word="${{COMP_WORDS[COMP_CWORD]}}"
    case "$path" in
{cases}
    esac
}}
complete -o default -F _flamewatch flamewatch
"""
_ZSH = "#compdef flamewatch\nautoload -U +X bashcompinit && bashcompinit\n"


def add_completion(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="shell of the script")


def print_completion(options: Namespace, parser: ArgumentParser) -> int:
    words = dict(_list_words(parser, ""))
    print(_fish(words) if options.shell == "fish" else _bash(words, options.shell), end="")
    return 0


def _bash(words: dict[str, list[str]], shell: str) -> str:
    cases = "\n".join(
        f'    "{path}") COMPREPLY=($(compgen -W "{" ".join(each)}" -- "$word"));;'
        for path, each in words.items()
    )
    script = _BASH.format(groups=" ".join(filter(None, words)), cases=cases)
    return _ZSH + script if shell == "zsh" else script


def _fish(words: dict[str, list[str]]) -> str:
    lines = ["complete -c flamewatch -f"]
    for path, each in words.items():
        seen = [f"__fish_seen_subcommand_from {word}" for word in path.split("/") if word]
        condition = "; and ".join(seen) or "__fish_use_subcommand"
        lines.append(f"complete -c flamewatch -n '{condition}' -a '{' '.join(each)}'")
    return "\n".join(lines) + "\n"


def _list_words(parser: ArgumentParser, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the words that may follow each path of commands, such as `keys/list`."""
    actions: list[Action] = parser._actions
    words = [word for action in actions for word in action.option_strings if word[:2] == "--"]
    for action in actions:
        if isinstance(action, _SubParsersAction):
            words = [*action.choices, *words]
            for name, child in action.choices.items():
                yield from _list_words(child, f"{path}/{name}".lstrip("/"))
    yield path, words
