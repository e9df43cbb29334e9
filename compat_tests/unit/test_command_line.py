"""All commands read as one program: options, operands, formats, help and exit codes agree."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.terminal import on_terminal
from portable import cli
from portable.cli import COMMANDS, load, main, parser
from portable.cli.output import write_bytes
from portable.system.files import FileError
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

PARSERS = {name: parser.build(name, load(name)) for name in COMMANDS}

# What an operand is called when it is an artifact, or leads to some.
ARTIFACT = {"FILE", "PATH", "PROGRAM"}
# Commands that take one artifact, and why.
TAKES_ONE = {
    "attest": "--output and --attestation are about one artifact or bundle",
    "pin": "--output is written for one program or container",
    "serialize": "--output is written for one program",
    "deserialize": "--output is written for one program",
    "reduce": "--check is about one program, and --output holds the smallest",
    "push": "a name in a registry stands for one of them",
    "run": "--inputs fit one program, and --output holds its results",
}
# Commands whose standard output is no report.
NO_REPORT = {
    "serialize": "prints the artifact",
    "deserialize": "prints the program",
    "completion": "prints a shell script",
    "schema": "prints JSON",
}
# Commands that say something of artifacts: consumers are named by --for, a Version by --target.
TAKES_CONSUMERS = {
    "pin", "serialize", "explain", "export", "verify-export", "target", "check", "gate", "audit",
    "repin-all",    "matrix", "bundle", "pick", "fuzz", "attest",
}  # fmt: skip
# Two names that must not be used for what has a name already.
BANNED = {"--full", "--tolerance", "--consumers", "--release", "--json", "--verbose", "--silent"}


def _options() -> Iterator[tuple[str, argparse.Action]]:
    for command, built in PARSERS.items():
        for action in built._actions:
            if action.option_strings:
                yield command, action


def _help(action: argparse.Action) -> str:
    # Commands may differ in the default alone.
    return re.sub(r" \(default: .*\)$", "", action.help or "")


def test_an_option_means_the_same_in_every_command() -> None:
    """Its spellings, destination, type, number of values, placeholder and help are the same."""
    meanings: defaultdict[str, dict[tuple[object, ...], set[str]]] = defaultdict(dict)
    for command, action in _options():
        meaning = (
            tuple(action.option_strings),
            action.dest,
            type(action).__name__,
            action.type,
            action.nargs,
            action.metavar,
            _help(action),
        )
        for name in action.option_strings:
            meanings[name].setdefault(meaning, set()).add(command)
    differing = {
        name: {command for commands in found.values() for command in commands}
        for name, found in meanings.items()
        if len(found) > 1
    }
    assert differing == {}


def test_a_destination_has_one_option() -> None:
    """Two names for one thing are one too many."""
    names = defaultdict(set)
    for _, action in _options():
        names[action.dest].add(tuple(action.option_strings))
    assert {dest: found for dest, found in names.items() if len(found) > 1} == {}
    assert BANNED.isdisjoint(name for _, action in _options() for name in action.option_strings)


@pytest.mark.parametrize(
    "words",
    [
        "audit . -o -",
        "bundle --files a.mlir.bc -o /dev/stdout",
        "export jax steps:predict --target 1.9.0 -o -",
        "export saved-model net -o -",
        "fuzz generate --seed 1 -o -",
        "reduce m.mlir --check true -o -",
        "pick some.bundle --unpack -o -",
        "repin-all fleet.parquet --for jaxlib -o -",
    ],
)
def test_what_is_no_stream_is_not_written_to_standard_output(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nor to a file or a folder of the name `-`."""
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert "--output cannot be standard output here" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_help_tells_every_option_and_its_default() -> None:
    """A phrase without a full stop; a value has a placeholder, or choices, and its default."""
    for command, action in _options():
        where = f"{command} {action.option_strings}"
        assert action.help, where
        assert not re.search(r"[^.]\.$", action.help), where
        if action.nargs != 0:
            assert action.metavar or action.choices, where
            if action.default not in (None, [], ""):
                assert "(default: " in action.help, where


def test_help_names_only_stages_that_a_command_takes() -> None:
    """Those of `matrix` are fewer than those of `check`."""
    staged = [(command, action) for command, action in _options() if action.dest == "stage"]
    assert {"check", "matrix"} <= {command for command, _ in staged}
    for command, action in staged:
        words = re.findall(r"\w+", _help(action))
        assert {str(stage) for stage in Stage} & {*words} <= {*(action.choices or ())}, command


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_several_artifacts(command: str) -> None:
    """Or the table above says why not."""
    operands = [a for a in PARSERS[command]._actions if a.metavar in ARTIFACT and a.required]
    operands += [a for a in PARSERS[command]._actions if a.metavar == "PATH" and a.nargs == "*"]
    operands = [action for action in operands if not action.option_strings]
    if command in TAKES_ONE:
        assert [action.nargs for action in operands] == [None]
    else:
        assert all(action.nargs in {"+", "*"} for action in operands)


def test_an_option_that_is_repeated_adds(capsys: pytest.CaptureFixture[str]) -> None:
    """What takes several values at once takes them one by one too: no consumer is left out."""
    for command, action in _options():
        if action.nargs in {"+", "*"}:
            assert isinstance(action, argparse._ExtendAction), (command, action.option_strings)
    artifact = Path(__file__).parents[1] / "data" / "artifacts" / "add_f32+1.17.0.mlir.bc"
    words = ["check", str(artifact), "--for", "jaxlib==0.5.3", "--for", "jaxlib==0.10.2"]
    assert main([*words, "--format", "json"]) == 0
    shown = capsys.readouterr().out
    assert "jaxlib 0.5.3" in shown
    assert "jaxlib 0.10.2" in shown


@pytest.mark.parametrize(
    "words",
    [
        "releases list --format json jaxlib==0.5.3",
        "env make --require-hashes jaxlib==0.5.3",
        "corpus run --quiet jaxlib==0.5.3",
        "corpus show --quiet add_f32",
        "schema --quiet gate",
    ],
)
def test_options_stand_anywhere(words: str) -> None:
    """Between an action and what it is done with too."""
    command, *given = words.split()
    options = [word for word in given if word.startswith("-") or word == "json"]
    operands = [word for word in given if word not in options]
    read = [
        parser.parse(command, load(command), order)
        for order in (given, [*operands, *options], [*options, *operands])
    ]
    assert read[0] == read[1] == read[2]


def test_consumers_are_named_by_for() -> None:
    """And a Version by --target, in every command that has consumers."""
    have = {command for command, action in _options() if "--for" in action.option_strings}
    assert have == TAKES_CONSUMERS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_quiet_on_demand_and_reports_to_machines(command: str) -> None:
    """`--quiet` everywhere, `--format json` where there is a report."""
    found = {name: action for action in PARSERS[command]._actions for name in action.option_strings}
    assert "--quiet" in found
    if command in NO_REPORT:
        assert "--format" not in found
    else:
        assert {"text", "json"} <= set(found["--format"].choices or ())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_exit_codes(command: str) -> None:
    """The examples parse; the exit codes say what 0, 1 and 2 mean for this command."""
    told = PARSERS[command].format_help()
    _, _, rest = told.partition("\nexamples:\n")
    examples = re.findall(rf"^  (portable {command}(?: .*?)?)(?:   .*)?$", rest, re.MULTILINE)
    assert examples, told
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])
        PARSERS[command].parse_args(words[2:])
    _, _, rest = told.partition("\nexit codes:\n")
    assert [code for code in "012" if re.search(rf"^  {code}  \S", rest, re.MULTILINE)] in (
        ["0", "2"],
        ["0", "1", "2"],
    )


ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
OLD = str(ARTIFACTS / "add_f32+0.9.0.mlir.bc")
NEW = str(ARTIFACTS / "mesh_inline+1.16.0.mlir.bc")


@pytest.mark.parametrize(
    ("words", "code", "summary"),
    [
        (["inspect", OLD, NEW], 0, "2 files: 2 readable"),
        (["inspect", OLD, "BAD"], 1, "2 files: 1 readable, 1 damaged"),
        (["inspect", "BAD", "NONE", OLD], 2, "3 files: 1 readable, 1 damaged, 1 not opened"),
        (["minimum", OLD, NEW], 0, "2 files: 2 analyzed"),
        (["minimum", "NONE", OLD], 2, "2 files: 1 analyzed, 1 failed"),
        (["check", OLD, OLD, "--for", "jaxlib"], 0, "2 files: 2 compatible"),
        (
            ["check", OLD, NEW, "--for", "jaxlib==0.4.33"],
            1,
            "2 files: 1 compatible, 1 incompatible",
        ),
        (
            ["check", OLD, "NONE", NEW, "--for", "jaxlib==0.4.33"],
            2,
            "3 files: 1 compatible, 1 incompatible, 1 not known or not checked",
        ),
    ],
    ids=lambda value: " ".join(map(str, value))[-30:] if isinstance(value, list) else None,
)
def test_several_files_are_summarized(
    words: list[str],
    code: int,
    summary: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each is reported, a bad one does not stop the others, and the highest exit code counts."""
    damaged, missing = tmp_path / "bad.mlir.bc", tmp_path / "missing"
    damaged.write_bytes(Path(OLD).read_bytes()[:100])
    words = [{"BAD": str(damaged), "NONE": str(missing)}.get(word, word) for word in words]
    files = [word for word in words if word.startswith("/")]
    assert main(words) == code
    told = capsys.readouterr()
    assert told.out.splitlines()[-1] == summary
    assert all(file in told.out + told.err for file in files)
    failed = told.err.splitlines()
    assert len(failed) == files.count(str(missing))
    assert all(line.startswith("error: ") and str(missing) in line for line in failed)
    assert main([*words, "--format", "json"]) == code
    told = capsys.readouterr()
    records = json.loads(told.out)["files"]
    assert [record["file"] for record in records] == files
    unread = [record["file"] for record in records if "error" in record]
    assert unread == [str(missing)] * len(failed)


def test_tables_have_one_style() -> None:
    """Heads are in lower case, but for the name StableHLO and the time zone."""
    assert cli.__file__
    heads = [
        head
        for path in sorted(Path(cli.__file__).parent.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print_table"
        if isinstance(node.args[0], ast.Tuple)
        for head in ast.literal_eval(node.args[0])
    ]
    assert len(heads) > 20
    for head in heads:
        name = head.replace("StableHLO", "stablehlo").replace("(UTC)", "")
        assert name == name.lower(), head


def test_an_empty_cell_is_a_dash_and_numbers_are_aligned(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same in every table."""
    cli.output.print_table(("name", "count"), [("a", "1,000"), ("bcd", ""), ("", "7")])
    assert capsys.readouterr().out.splitlines() == [
        "name  count",
        "a     1,000",
        "bcd       -",
        "-         7",
    ]


# A command that takes longer than a terminal waits, and prints once in between.
SLOW = """
import time
from portable.cli import progress, versions
from portable.cli.output import say
def run(chosen):
    time.sleep(0.8); say("half"); time.sleep(0.8); say("done"); return 0
assert progress._AFTER_S == 2
progress._AFTER_S = 0.3
versions.run = run
"""


def test_a_command_of_more_than_two_seconds_is_seen_to_run() -> None:
    """On a terminal, again after each output; with --quiet never; nothing on standard output."""
    pytest.importorskip("rich")
    shown = on_terminal(["versions"], SLOW)
    assert (shown.code, shown.out) == (0, "half\ndone\n")
    assert shown.terminal.count(b"portable versions") >= 2
    quiet = on_terminal(["versions", "--quiet"], SLOW)
    assert (quiet.out, quiet.terminal) == (shown.out, b"")


def test_no_colour_is_obeyed() -> None:
    """NO_COLOR leaves the table as it is, without colours; see no-color.org."""
    pytest.importorskip("rich")
    words = ["check", OLD, NEW, "--for", "jaxlib==0.4.33", "--all"]
    colour = re.compile(rb"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38;)")
    assert colour.search(on_terminal(words, output=True).terminal)
    for value in ("1", "yes"):
        shown = on_terminal(words, output=True, NO_COLOR=value).terminal
        assert b"incompatible" in shown
        assert not colour.search(shown)


def _completed(script: Path, line: str) -> list[str]:
    """Return what bash offers where a line ends."""
    ask = (
        f"source {script}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
        'COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; '
        'complete -p portable | grep -q -- "-F _shtab_portable" && _shtab_portable; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", ask], capture_output=True, text=True, check=True, cwd=script.parent
    )
    return done.stdout.split()


def test_bash_completes_commands_options_choices_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script that is printed is run by bash itself."""
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    (tmp_path / "model.mlir.bc").touch()
    assert set(_completed(script, "portable ''")) >= set(COMMANDS)
    assert _completed(script, "portable insp") == ["inspect"]
    assert _completed(script, "portable check --obs") == ["--observe"]
    assert _completed(script, "portable check --stage dec") == ["decode"]
    assert _completed(script, "portable check mod") == ["model.mlir.bc"]
    for command in COMMANDS:
        found = {name for a in PARSERS[command]._actions for name in a.option_strings}
        assert set(_completed(script, f"portable {command} --")) == {
            name for name in found if name.startswith("--")
        }


def test_zsh_completes_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The script names all of them, and zsh takes it where zsh is installed."""
    pytest.importorskip("shtab")
    assert main(["completion", "zsh"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("#compdef portable\n")
    # Older shtab writes double quotes.
    assert all(re.search(rf"""["']?{command}:["']""", text) for command in COMMANDS)
    if shell := shutil.which("zsh"):
        script = tmp_path / "_portable"
        script.write_text(text)
        subprocess.run([shell, "-n", script], check=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_only_what_it_declares(command: str) -> None:
    """`chosen.x` in its module is the destination of one of its options or operands."""
    path = load(command).__file__
    read = {
        node.attr
        for node in ast.walk(ast.parse(Path(path).read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "chosen"
    }
    assert read <= {action.dest for action in PARSERS[command]._actions}


@pytest.mark.parametrize("command", ["versions", "target --for jaxlib", "target --for jaxlib -q"])
def test_output_goes_into_a_stream_of_the_caller(command: str) -> None:
    """`main` under `redirect_stdout` writes text into an `io.StringIO`, as print does."""
    given = io.StringIO()
    with contextlib.redirect_stdout(given):
        assert main(command.split()) == 0
    assert "\n" in given.getvalue()


def test_bytes_for_a_stream_of_text_are_an_error_of_one_line() -> None:
    """They need a stream with a buffer, as standard output has one."""
    with contextlib.redirect_stdout(io.StringIO()), pytest.raises(FileError, match="takes text"):
        write_bytes("-", b"ML")


class _Signalled:
    """What is raised by a signal that comes while a class is made."""

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised

    def __set_name__(self, owner: type, name: str) -> None:
        raise self.raised


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (SystemExit(143), 143, ""),
        (KeyboardInterrupt(), 130, ""),
        (ValueError("bad"), 2, "internal error"),
    ],
)
def test_a_signal_ends_a_command_wherever_it_comes(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Python 3.11 makes a RuntimeError of whatever is raised while a class is made."""

    def run(_chosen: object) -> int:
        type("Made", (), {"x": _Signalled(raised)})
        return 0

    monkeypatch.setattr("portable.cli.versions.run", run)
    try:
        ended: object = main(["versions"])
    except SystemExit as error:
        ended = error.code
    assert ended == code
    told = capsys.readouterr().err
    assert (said in told) if said else not told
