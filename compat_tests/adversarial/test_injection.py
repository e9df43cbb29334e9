"""Foreign text is data: on no channel does it move a cursor, forge a line or become markup."""

from __future__ import annotations

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.commands import actions
from compat_tests.adversarial.generators.injection import (
    EVERYTHING,
    FORGED,
    HOSTILE,
    artifacts,
    containers,
    corpora,
    documents,
    libraries,
    long_name,
    policies,
)
from compat_tests.helpers.matrices import sample
from compat_tests.helpers.tables import forget
from portable.cli import main
from portable.errors import PortableError
from portable.escaping import block, json_text, line, one_line
from portable.fuzz.campaign import Campaign, Progress
from portable.fuzz.causes import Cause
from portable.fuzz.hunted import page
from portable.fuzz.reduction import Candidate
from portable.matrix.document import record
from portable.matrix.report import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DATA = Path(__file__).parents[1] / "data" / "artifacts"
CALLS = DATA / "custom_calls+1.0.0.mlir.bc"
RANGES = DATA / "location_range+1.0.0.mlir.bc"
CORPUS = Path(__file__).parents[2] / "corpus" / "shapes"
# The one format whose lines are meant for the runner of the workflow.
_OURS = re.compile(r"::(error|warning|notice) (file=[^:,]*,)?title=portable[^:]*::")
_RUNNERS = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
_FORGED = re.compile(rf"\s*{FORGED}")
_MARKUP = ("<script>alert", "<img src=x")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    """Return what runs a command in this process."""
    return Runner(capfd)


class Runner:
    """Runs commands, and holds what they say against the property that all of them have."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self.capture = capture

    def __call__(self, *words: object, form: str = "text") -> Said:
        """Run one command."""
        code = main([str(word) for word in words])
        said = Said(code, *self.capture.readouterr())
        demand_harmless(said.out, form)
        demand_harmless(said.err, "json" if form == "json" and code == 2 else "text")
        assert code in {0, 1, 2}
        if code == 2 and not said.out:
            assert said.err.count("\n") == 1
        return said


# What the page of the gate is made of.
_GATE_TAGS = {
    "html", "head", "meta", "title", "link", "style", "body", "header", "main", "h1", "h2", "p",
    "span", "table", "thead", "tbody", "tr", "th", "td", "br", "ul", "li", "script",
}  # fmt: skip
_GATE_ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "rel", "href", "class", "scope", "type",
    "id",
}  # fmt: skip


def demand_harmless(text: str, form: str) -> None:
    """Check what was printed against the property, and parse what machines read."""
    bad = {c for c in text if c != "\n" and not c.isprintable()}
    assert not bad, f"raw: {sorted(bad)!r:.200}"
    text.encode()
    rest = "\n".join(row for row in text.split("\n") if not (form == "github" and _OURS.match(row)))
    assert not _RUNNERS.search(rest), _RUNNERS.search(rest)
    if form == "text":
        assert max(map(len, text.split("\n"))) <= _LONGEST
        *others, _ = text.rstrip("\n").split("\n")  # the last line may say so truly
        assert not any(map(_FORGED.match, others))
    if not text:
        return
    if form == "json":
        json.loads(text, parse_constant=pytest.fail)
    if form == "junit":
        ET.fromstring(text)  # noqa: S314 - we have just written it
    if form == "html" and "<title>portable gate</title>" not in text:
        assert _Page.of(text) == _Page.of(PLAIN_PAGE)
    elif form == "html":
        for tag, attributes in _Page.of(text):
            assert tag in _GATE_TAGS
            assert {name for name, _ in attributes} <= _GATE_ATTRIBUTES
        assert text.count("<script") == text.count("</script>") == 2
    if form == "markdown":
        demand_plain_markdown(text)


class _Page(html.parser.HTMLParser):
    """The elements that a browser would make, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []

    @classmethod
    def of(cls, text: str) -> list[tuple[str, list[tuple[str, str | None]]]]:
        page = cls()
        page.feed(text)
        return page.seen

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))


def _page() -> str:
    from portable.matrix.report import render

    return render(sample(), "html")


PLAIN_PAGE = _page()


def demand_plain_markdown(text: str) -> None:
    """Nothing outside of a code span is markup, and every row of a table has as many cells."""
    columns = 0
    for row in text.splitlines():
        outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", row)
        for sign in ("<", "](", "@", "javascript:", "http"):
            assert sign not in outside
        if row.startswith("|"):
            cells = len(re.findall(r"(?<!\\)\|", row))
            assert columns in {0, cells}
            columns = cells
        else:
            columns = 0


@pytest.mark.parametrize("kind", HOSTILE)
def test_every_text_becomes_one_printable_line(kind: str) -> None:
    """What cannot be seen is shown by its number; a second time changes nothing."""
    shown = line(HOSTILE[kind])
    demand_harmless(shown, "text")
    assert "\n" not in shown
    assert line(shown) == shown
    demand_harmless(one_line(HOSTILE[kind]), "text")
    demand_harmless(block(HOSTILE[kind]), "lines")
    demand_harmless(
        str(PortableError(HOSTILE[kind], where=HOSTILE[kind], hint=HOSTILE[kind])), "text"
    )
    demand_harmless(json_text(HOSTILE[kind]), "json")
    assert json.loads(json_text({HOSTILE[kind]: [HOSTILE[kind]]})) == {
        HOSTILE[kind]: [HOSTILE[kind]]
    }


def test_escapes_are_visible() -> None:
    """Each character is told by its number, as Python writes it, and nothing is lost."""
    assert line("\x1b[0m\n\x9b\u202e\u200b\udcff\U000e0041") == (
        r"\x1b[0m\n\x9b\u202e\u200b\udcff\U000e0041"
    )
    assert line("Größe 大きさ x\\y 'a'") == "Größe 大きさ x\\y 'a'"


def test_long_names_are_shortened_and_say_how_long_they_are() -> None:
    """In text; the line goes on behind the name."""
    shown = line(f"op {long_name(50_000)} is unknown")
    assert "50,000 characters" in shown
    assert shown.startswith("op nnn")
    assert shown.endswith("nnn is unknown")
    assert len(shown) < 2000
    assert len(line("word " * 100_000)) < _LONGEST


def test_no_lone_surrogate_is_in_json() -> None:
    """A file name that is not UTF-8 is readable in JSON, which has no way to write such bytes."""
    assert json.loads(json_text("a\udcff.mlir.bc")) == r"a\udcff.mlir.bc"
    json_text("\udcff").encode()


READERS: dict[str, Sequence[str]] = {
    "inspect": ("text", "json"),
    "check": ("text", "json"),
    "minimum": ("text", "json"),
    "gate": ("text", "json", "junit", "github", "markdown", "html"),
}


def _words(command: str, path: Path, form: str, policy: Path) -> list[object]:
    more: dict[str, list[object]] = {
        "inspect": ["--ops", "--fingerprint"],
        "check": ["--for", "jaxlib==0.4.30", "jaxlib==0.10.2", "--all"],
        "minimum": [],
        "gate": ["--policy", policy],
    }
    return [command, path, *more[command], "--format", form]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """Return a policy that everything breaks."""
    path = tmp_path / "policy.toml"
    path.write_text(
        '[consumers]\na = ["jaxlib==0.4.13"]\n'
        '[rules]\nlocations = "none"\ncustom_calls = []\ninclude = ["*"]\n'
    )
    return path


@pytest.mark.parametrize("command", READERS)
def test_no_string_of_an_artifact_is_obeyed(
    command: str, run: Runner, tmp_path: Path, policy: Path
) -> None:
    """Names of dialects, ops, functions, files and targets, attributes, and the producer."""
    path = tmp_path / "a.mlir.bc"
    for source in (CALLS, RANGES):
        for data in artifacts(EVERYTHING, source):
            path.write_bytes(data)
            for form in READERS[command]:
                run(*_words(command, path, form, policy), form=form)


def test_a_hostile_artifact_is_read_all_the_same(run: Runner, tmp_path: Path) -> None:
    """The generator makes artifacts, not damaged files: most of them are inspected completely."""
    path = tmp_path / "a.mlir.bc"
    codes = []
    for data in artifacts(HOSTILE["command"], CALLS):
        path.write_bytes(data)
        said = run("inspect", path, "--ops", form="text")
        codes.append(said.code)
    assert codes.count(0) > len(codes) // 2
    shown = set()
    for data in artifacts("\x1b[31mX", CALLS):
        path.write_bytes(data)
        shown.update(re.findall(r"\\x1b\[31mX", run("inspect", path, "--ops").out))
    assert shown


@pytest.mark.parametrize("command", READERS)
def test_no_container_is_obeyed(command: str, run: Runner, tmp_path: Path, policy: Path) -> None:
    """Names of functions and nodes, descriptions, and the artifacts inside."""
    for path in containers(EVERYTHING, tmp_path):
        for form in READERS[command]:
            run(*_words(command, path, form, policy), form=form)


def file_names() -> Iterator[bytes]:
    """Yield what a file system on Linux takes: all bytes but two."""
    yield from _names(HOSTILE)
    yield b"\xff\xfe not UTF-8 \x9b.mlir.bc"
    yield b"-.mlir.bc"


def _names(texts: Mapping[str, str]) -> Iterator[bytes]:
    for text in texts.values():
        name = text.replace("/", "\u2215").replace("\0", "").encode("utf-8", "surrogateescape")
        yield name[:200] + b".mlir.bc"


MADE = {"good": CALLS.read_bytes(), "empty": b"", "cut": CALLS.read_bytes()[:12]}


@pytest.mark.parametrize("command", [one for one in READERS if one != "minimum"])
@pytest.mark.parametrize("made", MADE)
def test_no_file_name_is_obeyed(
    command: str, made: str, run: Runner, tmp_path: Path, policy: Path
) -> None:
    """Neither of artifacts nor of damaged files."""
    for path in _files(tmp_path, MADE[made]):
        for form in READERS[command]:
            run(*_words(command, path, form, policy), form=form)


@pytest.mark.parametrize("form", READERS["gate"])
@pytest.mark.parametrize("made", MADE)
def test_reports_are_written_whatever_files_are_called(
    form: str, made: str, tmp_path: Path, policy: Path
) -> None:
    """Also of names that are not UTF-8, in every format."""
    report = tmp_path / "report"
    _files(tmp_path, MADE[made])
    words = ["gate", tmp_path / "tree", "--policy", policy, "--format", form, "-o", report]
    assert main([str(word) for word in words]) == (1 if made == "good" else 2)
    demand_harmless(report.read_text("utf-8"), form)


def _files(folder: Path, made: bytes) -> list[Path]:
    tree = folder / "tree"
    tree.mkdir()
    paths = [Path(os.fsdecode(os.fsencode(tree) + b"/" + name)) for name in file_names()]
    for path in paths:
        path.write_bytes(made)
    return paths


def test_no_policy_is_obeyed(run: Runner, tmp_path: Path) -> None:
    """Keys, names of sets, specifiers, patterns, reasons of waivers."""
    (tmp_path / "a.mlir.bc").write_bytes(CALLS.read_bytes())
    policy = tmp_path / "policy.toml"
    for text in policies(EVERYTHING):
        policy.write_text(text, "utf-8", errors="surrogatepass")
        for form in READERS["gate"]:
            run("gate", tmp_path / "a.mlir.bc", "--policy", policy, "--format", form, form=form)


@pytest.mark.parametrize("form", FORMATS)
def test_no_matrix_is_obeyed(form: str, run: Runner, tmp_path: Path) -> None:
    """Every string of an earlier result, in every report."""
    path = tmp_path / "earlier.json"
    accepted = 0
    for document in documents(EVERYTHING, record(sample())):
        path.write_text(json.dumps(document))
        for more in ([], ["--full"]):
            said = run("matrix", "--merge", path, "--format", form, *more, form=form)
            accepted += said.code != 2
    assert accepted > 10


# Each of them is a file name or a TOML string in a way of its own; the rest is in EVERYTHING.
SOME = ("everything", "escape", "newline", "command", "markup", "markdown", "path")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty folder of environments, beside which the own table is."""
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PORTABLE_OFFLINE", "1")
    yield tmp_path / "cache"
    forget()


@pytest.mark.parametrize("kind", SOME)
def test_no_runtime_is_obeyed(kind: str, run: Runner, tmp_path: Path, cache: Path) -> None:
    """Names of libraries, wheels and members, their versions, and what stands in the binaries."""
    artifact = tmp_path / "a.mlir.bc"
    artifact.write_bytes(CALLS.read_bytes())
    (tmp_path / "files").mkdir()
    for path in libraries(HOSTILE.get(kind, EVERYTHING), tmp_path / "files"):
        for form in ("text", "json"):
            run("inspect", path, "--format", form, form=form)
            run("check", artifact, "--for", path, "--format", form, form=form)
            run("target", "--for", path, "--format", form, form=form)
        for form in ("text", "json", "markdown"):
            run("releases", "diff", path, "jaxlib==0.9.1", "--format", form, form=form)
            run("releases", "add", path, "--format", form, form=form)
            run("releases", "add", path, "--name", "ours==2.0", "--format", form, form=form)
            forget()
            assert run("releases", "--format", form, form=form).code == 0
    own = (cache / "releases.toml").read_bytes()
    for row in tomllib.loads(own.decode())["release"]:
        assert row["confidence"] == "static"


OWN = {
    "distribution": "ours", "version": "1.0", "date": "2026-01-01", "current": "1.9.0",
    "minimum": "0.9.0", "python": "3.11", "numpy": "<2", "confidence": "measured",
    "method": "bindings", "measured": "2026-01-01", "evidence": "why", "note": "a note",
}  # fmt: skip


def test_no_own_table_is_obeyed(run: Runner, cache: Path) -> None:
    """Every string of a table that somebody else may have written."""
    cache.mkdir()
    for changed in documents(EVERYTHING, OWN):
        assert isinstance(changed, dict)
        rows = (f"{_quoted(key)} = {_quoted(value)}\n" for key, value in changed.items())
        (cache / "releases.toml").write_text("[[release]]\n" + "".join(rows))
        for form in ("text", "json", "markdown"):
            forget()
            run("releases", "--format", form, form=form)
            run("releases", "diff", "ours==1.0", "jaxlib==0.9.1", "--format", form, form=form)


def _quoted(text: object) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


@pytest.mark.parametrize("kind", SOME)
def test_no_environment_is_obeyed(kind: str, run: Runner, cache: Path) -> None:
    """Names of folders, and every string of a marker; nothing beyond the cache is removed."""
    text = HOSTILE.get(kind, EVERYTHING)
    home = cache / "environments"
    name = os.fsdecode(next(iter(_names({kind: text})))).removesuffix(".mlir.bc").lstrip(".")
    (home / name).mkdir(parents=True)
    (cache / "kept").mkdir()
    marker = {
        "schema": 1, "consumer": "jaxlib 0.4.33", "installed": {"numpy": "1"},
        "recipe": {
            "distribution": "jaxlib", "version": "0.4.33", "python": "3.11", "driver": "bindings",
            "packages": ["jaxlib==0.4.33"], "keep": [],
        },
    }  # fmt: skip
    for number, changed in enumerate(documents(text, marker)):
        (home / f"n{number}").mkdir()
        (home / f"n{number}" / "portable-environment.json").write_text(json.dumps(changed))
    for form in ("text", "json"):
        run("env", "list", "--format", form, form=form)
        run("env", "clear", f"../{name}", "--format", form, form=form)
        run("env", "clear", "../kept", "--format", form, form=form)
        run("env", "prune", "--keep", "1MB", "--format", form, form=form)
    assert run("env", "clear", name).code == 0
    assert (cache / "kept").is_dir()


CASE = CORPUS / "broadcast_in_dim_f32"


@pytest.mark.parametrize("kind", SOME)
def test_no_corpus_is_obeyed(kind: str, run: Runner, tmp_path: Path) -> None:
    """Names of Cases, families, files and producers, and every string of a manifest."""
    for corpus in corpora(HOSTILE.get(kind, EVERYTHING), CASE, tmp_path / "corpora"):
        case = next(corpus.glob("*/*/case.toml")).parent.name
        for form in ("text", "json"):
            more = ["--corpus", corpus, "--format", form]
            codes = [run("corpus", word, *more, form=form).code for word in ("list", "coverage")]
            run("corpus", "show", *more, "--", case, form="lines" if form == "text" else form)
            sealed = run("corpus", "seal", *more, form=form).code
            named = all(str(path).isprintable() for path in corpus.rglob("*"))
            assert sealed == 0 or codes[0] == 2 or not named, "a corpus that is whole can be sealed"
            if sealed == 0:
                assert named
                assert run("corpus", "verify", *more, form=form).code == 0


WORDS = {
    "target": ["--for", "{}"],
    "releases list": ["{}"],
    "releases diff": ["{}", "{}"],
    "releases add": ["{}"],
    "releases update": ["{}"],
    "inspect": ["{}"],
    "check": ["{}", "--for", "jaxlib"],
    "gate": ["{}", "--policy", "{}"],
    "minimum": ["{}"],
    "matrix": ["{}", "--for", "{}"],
    "env list": ["{}"],
    "env make": ["{}"],
    "env clear": ["{}"],
    "env prune": ["--keep", "{}"],
    "corpus list": ["--corpus", "{}"],
    "corpus show": ["{}", "--corpus", str(CORPUS)],
    "corpus verify": ["--corpus", "{}"],
    "corpus coverage": ["--corpus", "{}"],
    "corpus seal": ["--corpus", "{}"],
    "corpus new": ["{}", "--corpus", "{}"],
    "corpus run": ["{}", "--corpus", str(CORPUS)],
    "run": ["{}"],
    "verify": ["{}", "--against", "{}"],
    "verify-export": ["{}", "--target", "{}"],
    "export jax": ["{}", "--target", "{}", "-o", "{}"],
    "export torch": ["{}", "--target", "{}", "-o", "{}"],
    "export saved-model": ["{}", "--target", "{}", "-o", "{}"],
    "pin": ["{}", "--target", "{}", "-o", "{}"],
    "serialize": ["{}", "--target", "{}"],
    "deserialize": ["{}"],
    "bundle": ["{}", "--for", "{}", "-o", "{}"],
    "pick": ["{}", "--for", "{}", "-o", "{}"],
    "push": ["{}", "{}"],
    "attest sign": ["{}", "--key", "{}", "--for", "{}"],
    "attest verify": ["{}", "--key", "{}"],
    "attest attach": ["{}", "{}", "--key", "{}"],
    "audit": ["{}", "-o", "{}"],
    "plan": ["{}", "--from", "{}", "--to", "{}"],
    "repin-all": ["{}", "--for", "{}", "-o", "{}"],
    "fuzz generate": ["--target", "{}", "-o", "{}"],
    "fuzz hunt": ["--for", "{}", "--hours", "1", "-o", "{}"],
    "reduce": ["{}", "--check", "{}"],
    "explain": ["{}", "--target", "{}"],
    "versions": ["--{}"],
    "completion bash": ["{}"],
    "completion zsh": ["{}"],
    "schema": ["{}"],
}


def test_every_action_is_among_them() -> None:
    """A new command, or a new action of one, joins this walk."""
    assert set(WORDS) == actions()


@pytest.mark.parametrize("command", WORDS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_word_of_the_command_line_is_obeyed(command: str, kind: str, run: Runner) -> None:
    """A script may have taken it from somewhere else."""
    for form in ("text", "json"):
        words = [word.format(HOSTILE[kind]) for word in WORDS[command]]
        said = run(
            *command.split(), *words, *(["--format=json"] if form == "json" else []), form=form
        )
        assert said.code == 2
    said = run(f"{HOSTILE[kind]}")
    assert said.code == 2


def test_the_process_itself_prints_them_too(tmp_path: Path) -> None:
    """In an ASCII locale as well, from a file whose name is not UTF-8."""
    name = os.fsencode(tmp_path) + "/\u00e9\n::error::x\x1b.mlir.bc".encode() + b"\xff"
    Path(os.fsdecode(name)).write_bytes(CALLS.read_bytes())
    for more in ({}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}):
        command = [sys.executable, "-m", "portable", "check", os.fsdecode(name)]
        command += ["--for", "jaxlib==0.10.2"]
        done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, **more})
        assert (done.returncode, done.stderr) == (0, b"")
        demand_harmless(done.stdout.decode(), "text")
        assert b"\\xff" in done.stdout or b"\\udcff" in done.stdout


def test_the_fixture_of_pytest_prints_no_text_as_it_is(tmp_path: Path) -> None:
    """A test that fails shows names out of the artifact, in the log of CI."""
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for number, data in enumerate(artifacts(EVERYTHING, CALLS)):
        (hostile / str(number)).write_bytes(data)
    (tmp_path / "test_it.py").write_text(
        "import pathlib\nimport pytest\n\n"
        "@pytest.mark.parametrize('path', sorted(pathlib.Path('hostile').iterdir()))\n"
        "def test_it(assert_portable, path):\n"
        "    assert_portable(path, 'jaxlib==0.4.30')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "not portable to 1 of 1 consumers" in done.stdout
    demand_harmless(done.stdout, "text")


def test_nothing_but_output_prints() -> None:
    """A new command is safe without a thought: only `cli/output.py` reaches a stream."""
    import ast

    import portable.cli

    assert portable.cli.__file__
    for path in sorted(Path(portable.cli.__file__).parent.glob("*.py")):
        if path.name == "output.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name | ast.Attribute):
                name = ast.unparse(node)
                assert name not in {"print", "sys.stdout", "sys.stderr"}, f"{path}:{node.lineno}"


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_hunt_is_obeyed(kind: str, tmp_path: Path) -> None:
    """Its folder may be somebody else's: its page names Releases, seeds, ops and differences."""
    campaign = Campaign(tmp_path, 0)
    cause = Cause("sum", ("add(f32)",), ("jaxlib 0.10.2",), "p", "0/1", "d", "jaxlib 0.9.1")
    done = Progress(1, 2, 2, 0.5, [[3, 1, 2.5]], executed={"jaxlib 0.10.2": 1})
    done.refused["jaxlib 0.9.1"] = done.causes[cause.name] = 1
    done.computed["jaxlib 0.10.2: add f32"] = 1
    campaign.add_round(0, done)
    campaign.add_cause(cause, Candidate("p", None, 1))
    read = 0
    for path in [*tmp_path.rglob("*.json")]:
        sound = path.read_bytes()
        for text in (HOSTILE[kind], f"{HOSTILE[kind]} 1.0"):  # what a Release is called
            for document in documents(text, json.loads(sound)):
                path.write_text(json.dumps(document))
                read += _demand_harmless_hunt(tmp_path)
        path.write_bytes(sound)
    name = HOSTILE[kind].replace("/", "\u2215").replace("\0", "")
    shutil.copytree(tmp_path / "rounds" / "0", tmp_path / "rounds" / name)
    assert _demand_harmless_hunt(tmp_path)
    assert read > 10


def _demand_harmless_hunt(folder: Path) -> bool:
    """Check the page of a hunt; return whether there is one."""
    try:
        shown = page([Campaign(folder, 0).hunted()], ["f32"])
    except PortableError:
        return False
    demand_harmless(shown, "markdown")
    return True
