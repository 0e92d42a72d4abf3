"""Writes the man pages in man/ from the registry, the tables of options and the help of the subcommands."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import click

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from svmtool import __version__, registry  # noqa: E402
from svmtool.cli import help_texts as texts  # noqa: E402
from svmtool.cli.umbrella.group import PASSED_ON, umbrella  # noqa: E402
from svmtool.options.commands import TABLES  # noqa: E402

Rows = list[tuple[str, str]]
EXIT_STATUS: Rows = [("0", "done"), ("1", "an error, or a wrong command line"), ("130", "interrupted")]
EXIT_STATUS += [("143", "ended by SIGTERM")]
STRICT = ("2", "not converged, with --strict")
SAME = {"liblinear-train": "svm-train", "liblinear-predict": "svm-predict", "libsvm-scale": "svm-scale"}
SEE_ALSO = ("svm-train", "svm-predict", "svm-scale", "svmtool")


def escaped(text: str) -> str:
    """Text without characters that roff would interpret."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def page(name: str, about: str, synopsis: list[str], *sections: tuple[str, list[str] | Rows]) -> str:
    """A man page; a section holds paragraphs, or pairs of an option and its meaning."""
    lines = [f'.TH {name.upper()} 1 "" "svmtool {__version__}" "User Commands"', ".SH NAME"]
    lines += [f"{escaped(name)} \\- {escaped(about)}", ".SH SYNOPSIS"]
    lines += [line for text in synopsis for line in (escaped(text), ".br")][:-1]
    others = ", ".join(f"{other}(1)" for other in SEE_ALSO if other != name)
    statuses = EXIT_STATUS + ([STRICT] if name.endswith("train") else [])
    for title, content in (*sections, ("EXIT STATUS", statuses), ("SEE ALSO", [others])):
        lines.append(f".SH {title}")
        for entry in content:
            if isinstance(entry, str):
                lines += [".PP", escaped(entry)]
            else:
                lines += [".TP", f"\\fB{escaped(entry[0])}\\fR", escaped(entry[1])]
    return "\n".join(lines) + "\n"


def command_page(name: str, about: str, command: str) -> str:
    """The page of a command with one table of options."""
    files, *texts_of = texts.PAGES[command]
    rows = texts.plain_rows(TABLES[command])
    return page(name, about, [f"{name} [options] {files}"], ("DESCRIPTION", texts_of), ("OPTIONS", rows))


def kernel_sections() -> list[tuple[str, Rows]]:
    return [
        ("SOLVERS WITH A KERNEL", texts.solver_rows(registry.default_rows(kernel=True))),
        ("OPTIONS WITH A KERNEL", texts.kernel_option_rows()),
    ]


def svmtool_page() -> str:
    """The page of svmtool with the arguments and options of each subcommand."""
    context = click.Context(umbrella, info_name="svmtool", **umbrella.context_settings)
    commands: Rows = list(PASSED_ON.items())
    sections: list[tuple[str, Rows]] = []
    for name in umbrella.list_commands(context):
        if name in PASSED_ON:
            continue
        command = umbrella.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join([name, *command.collect_usage_pieces(inner)])
        about = " ".join(inspect.cleandoc(command.help or "").replace("\b", "").split("\n\n")[0].split())
        commands.append((usage, about))
        records = [found for p in command.params if (found := p.get_help_record(inner)) is not None]
        options = [(flag, " ".join(text.split())) for flag, text in records if text]
        options.append((", ".join(context.help_option_names), "Show this message and exit."))
        sections.append((f"OPTIONS OF {name.upper()}", options))
    about = " ".join((umbrella.help or "").split())
    return page(
        "svmtool", "train, predict, inspect models, convert data, export models", ["svmtool COMMAND [ARGUMENTS]"],
        ("DESCRIPTION", [about]), ("COMMANDS", commands), *sections,
    )  # fmt: skip


def pages() -> dict[str, str]:
    """File name -> text of all pages."""
    arguments = "[options] training_set_file [model_file]"
    about = [
        "Trains on a LIBSVM text file (plain, compressed, a pipe, or - for standard input) and certifies the gap "
        "between the objective and its minimum. Without a name the model is DATA.model in the current directory."
    ]
    always = "The kernel is RBF unless -t names another. svm-train(1) lists the long options."
    found = {
        "svm-train": page(
            "svm-train", "train a linear or kernel support vector machine", [f"svm-train {arguments}"],
            ("DESCRIPTION", [*about, texts.ABOUT_KERNELS]), ("SOLVERS", texts.solver_rows(registry.default_rows())),
            ("OPTIONS OF LIBLINEAR", texts.option_rows()), *kernel_sections(),
            ("LONG OPTIONS", texts.long_option_rows()),
        ),
        "libsvm-train": page(
            "libsvm-train", "svm-train that always reads LIBSVM's command line", [f"libsvm-train {arguments}"],
            ("DESCRIPTION", [*about, always]), *kernel_sections(),
        ),
        "svm-predict": command_page(
            "svm-predict", "predict with a model of svm-train, LIBLINEAR or LIBSVM", "svm-predict"
        ),
        "libsvm-predict": command_page(
            "libsvm-predict", "svm-predict with LIBSVM's command line", "svm-predict"
        ),
        "svm-scale": command_page("svm-scale", "scale the features and labels of a LIBSVM text file", "svm-scale"),
        "svmtool": svmtool_page(),
    }  # fmt: skip
    return {f"{name}.1": text for name, text in {**found, **{a: f".so man1/{b}.1\n" for a, b in SAME.items()}}.items()}


def main() -> None:
    """Write man/*.1."""
    folder = REPOSITORY / "man"
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
