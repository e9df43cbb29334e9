"""Nothing that was sealed has changed, and nothing that should be sealed is missing."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict

import pytest

from compat_tests.helpers.sealed import CASES, CORPUS
from portable.corpus import Case, Seals
from portable.releases import releases
from portable.version import Version
from tools.full_scan import TARGETS
from tools.programs import load_programs
from tools.seal import candidates, rewritten

FAMILIES = {program.family for program in load_programs()}


def test_every_file_is_as_it_was_sealed() -> None:
    """Each file has a seal, each seal a file, and the digests agree."""
    assert list(Seals.load(CORPUS).verify()) == []


def test_no_seal_of_the_past_is_gone_or_another() -> None:
    """Seals are only ever added: every older list in the history is part of the present one."""
    if not (CORPUS.parent / ".git").exists():
        pytest.skip("an unpacked archive has no history to compare with")

    def git(*words: str) -> str:
        command = ["git", *words]
        done = subprocess.run(command, cwd=CORPUS, capture_output=True, text=True, check=True)
        return done.stdout

    now = (CORPUS / "SEALS").read_text("utf-8")
    for commit in git("log", "--format=%H", "--", "SEALS").split():
        assert rewritten(git("show", f"{commit}:corpus/SEALS"), now) == [], commit


def test_tree_stays_small() -> None:
    """The corpus stays under 8,000 files and 40 MB, each file counted in blocks of 4 KiB."""
    sizes = [path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()]
    assert len(sizes) < 8000
    assert sum(-(-size // 4096) * 4096 for size in sizes) < 40_000_000


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.family != "torch_xla"])
def test_case_is_sealed_at_its_first_target_and_at_the_newest(case: Case) -> None:
    """Every Case has an artifact for the first Version that can hold it and for the newest."""
    targets = [str(sealed.target) for sealed in case.artifacts]
    assert targets[0] == str(case.first)
    assert targets[-1] == TARGETS[-1]
    assert len(targets) == len(set(targets))


def test_whole_programs_and_one_case_a_family_are_sealed_at_every_minor() -> None:
    """From its first Version on, each has an artifact for every minor, 1.17 included."""
    families = defaultdict(list)
    for case in CASES.values():
        if case.every_minor:
            families[case.family].append(case)
            wanted = [target for target in TARGETS if Version.parse(target) >= case.first]
            assert [str(sealed.target) for sealed in case.artifacts] == wanted
    assert set(families) == FAMILIES | {"whole_programs"}
    assert len(families["whole_programs"]) >= 12
    covered = {str(s.target) for cases in families.values() for c in cases for s in c.artifacts}
    assert covered == set(TARGETS)


def test_every_artifact_was_written_by_the_release_of_its_time() -> None:
    """The producer is the oldest jaxlib with the target's Version, or the oldest that is newer.

    Where it is not, the Case's manifest says why each older candidate did not.
    """
    known = {f"{release.distribution}-{release.version}" for release in releases("jaxlib")}
    for case in CASES.values():
        excused = {known_.consumer for known_ in case.exceptions}
        for sealed in case.artifacts:
            if sealed.producer.startswith("torch_xla-"):
                continue
            assert sealed.producer in known
            version = sealed.producer.removeprefix("jaxlib-")
            for candidate in candidates(str(sealed.target)):
                if candidate.version == version:
                    break
                assert f"jaxlib=={candidate.version}" in excused, (case.name, sealed.path.name)
            else:
                pytest.fail(f"{sealed.path}: nobody's turn")


def test_header_claims_what_the_file_name_says() -> None:
    """The producer string of every sealed artifact names the target of its file name."""
    for case in CASES.values():
        for sealed in case.artifacts:
            header = sealed.path.read_bytes()[:64]
            match = re.match(rb"ML\xefR.StableHLO_v([0-9.]+)\0", header, re.DOTALL)
            assert match is not None, sealed.path
            assert match[1].decode() == str(sealed.target)
