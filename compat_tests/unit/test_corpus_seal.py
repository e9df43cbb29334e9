"""`portable corpus seal`: a private corpus is sealed by its owner, and then never changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from compat_tests.helpers.sealed import CASES
from portable.cli import main
from portable.cli.corpus import _ACTIONS
from portable.corpus import load_corpus
from portable.corpus.seals import Seals


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a corpus of one Case that is not sealed."""
    case = CASES["tanh_f32"].directory
    shutil.copytree(case, tmp_path / "ours" / case.parent.name / case.name)
    return tmp_path / "ours"


def test_what_is_new_is_sealed_once(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time there is nothing to do, and `verify` agrees."""
    words = ["--corpus", str(corpus)]
    assert main(["corpus", "seal", *words]) == 0
    sealed = (corpus / "SEALS").read_bytes()
    assert not capsys.readouterr().out.startswith("0 files")
    assert main(["corpus", "seal", *words]) == 0
    assert capsys.readouterr().out.startswith("0 files sealed, ")
    assert (corpus / "SEALS").read_bytes() == sealed
    assert main(["corpus", "verify", *words]) == 0


def test_what_is_being_made_is_neither_listed_nor_sealed(corpus: Path) -> None:
    """`corpus new` writes a Case beside its place; one that is killed leaves it to the next run."""
    family = next(corpus.iterdir())
    shutil.copytree(family, family / ".portable-abcdefgh.tmp")
    assert len(load_corpus(corpus)) == len(load_corpus(family)) == 1
    assert all(".portable" not in str(path) for path in Seals.load(corpus).files())


@pytest.mark.parametrize("what", ["", "inputs", "expected"])
def test_nothing_that_a_case_reads_is_without_a_seal(
    what: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Case, or a folder of one, that is a link has files elsewhere, which no seal is of."""
    words = ["--corpus", str(corpus)]
    (case,) = (case.directory for case in load_corpus(corpus))
    link = case / what if what else case.with_name("another")
    if what:
        shutil.rmtree(link)
    assert main(["corpus", "seal", *words]) == 0
    shutil.copytree(CASES["tanh_f32"].directory / what, tmp_path / "elsewhere")
    link.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert main(["corpus", "verify", *words]) == 1
    assert "not sealed" in capsys.readouterr().out
    assert main(["corpus", "seal", *words]) == 2


def test_a_tensor_has_no_hidden_name(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hidden files are not sealed, so the manifest, which may change, must not name one."""
    (case,) = (case.directory for case in load_corpus(corpus))
    (path,) = (case / "expected").iterdir()
    path.rename(path.with_name(f".{path.name}"))
    text = (case / "case.toml").read_text()
    (case / "case.toml").write_text(text.replace("[expected]\n0", '[expected]\n".0"'))
    assert main(["corpus", "list", "--corpus", str(corpus)]) == 2
    assert "'.0'" in capsys.readouterr().err


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"other"), Path.unlink])
def test_what_was_sealed_is_not_sealed_again(
    corpus: Path, damage: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """A changed or removed file is an error that names it; the seals stay as they are."""
    words = ["--corpus", str(corpus)]
    main(["corpus", "seal", *words])
    sealed = (corpus / "SEALS").read_bytes()
    path = next(corpus.rglob("*.mlir.bc"))
    damage(path)  # type: ignore[operator]  # one of the two above
    assert main(["corpus", "seal", *words]) == 2
    assert path.name in capsys.readouterr().err
    assert (corpus / "SEALS").read_bytes() == sealed


def test_what_is_no_case_is_not_sealed(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged manifest is an error before anything is sealed."""
    manifest = next(corpus.rglob("case.toml"))
    manifest.write_text("schema = 99\n", "utf-8")
    assert main(["corpus", "seal", "--corpus", str(corpus)]) == 2
    assert "case.toml" in capsys.readouterr().err
    assert not (corpus / "SEALS").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["list", "--platform", "cuda"],
        ["seal", "--on", "jaxlib 0.10.2"],
        ["run", "nothing_so"],
        *([action, "--family", "quantized"] for action in sorted(_ACTIONS) if action != "new"),
    ],
)
def test_what_does_not_fit_the_action_is_refused(
    corpus: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, before anything is executed; no option is ignored."""
    assert main(["corpus", *words, "--corpus", str(corpus)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
