"""Messages for unknown options: the closest option, or the command that has the option.  Imported after an error."""

from __future__ import annotations

import difflib

from svmtool.options.commands import TABLES


def words_of(command: str) -> dict[str, str]:
    """Likely names of the options of a command, and the option of each."""
    options = TABLES[command]
    found = {name: option.advice for option in options for name in option.tried}
    return {**found, **{option.flag: option.flag for option in options if option.flag.startswith("--")}}


def letters_of(command: str) -> set[str]:
    """The letters of a command's options."""
    return {option.letter or option.flag[1] for option in TABLES[command]} - {"-"}


def unknown(argument: str, command: str, sentence: str = "unknown option") -> str:
    """The message for an unknown option of a command: what was probably meant, or whose option it is."""
    word = argument.partition("=")[0] if argument.startswith("--") else argument[:2]
    start = f"{sentence}: {argument if argument.startswith('--') else word}"
    if not word.startswith("--"):
        others = [name for name in TABLES if name != command and word[1:] in letters_of(name)]
        if command == "svm-train" and word == "-h":
            return f"{start}: an option of LIBSVM, whose command line needs -t, -g, -d or -r (-t 2: RBF kernel)"
        return f"{start}: it is an option of {' and '.join(others)}" if others else start
    known = words_of(command)
    if word in known:
        return f"{start}: use {known[word]}"
    others = [name for name in TABLES if name != command and word in words_of(name)]
    close = difflib.get_close_matches(word[2:], [name[2:] for name in known], 1, 0.7)
    hints = [f"it is an option of {' and '.join(others)}"] if others else []
    hints += [f"did you mean {known['--' + close[0]]}?"] if close else []
    return f"{start}: {'; '.join(hints)}" if hints else start
