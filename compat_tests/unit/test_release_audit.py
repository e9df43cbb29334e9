"""The audit finds planted defects, and the tables as they are hold nothing unknown."""

from __future__ import annotations

import functools
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import audit_releases

ROOT = Path(__file__).parents[2]
DATA = ROOT / "portable" / "releases" / "data"
TABLES = ("versions.toml", "releases.toml", "history.toml", "discrepancies.toml")


_loads = functools.cache(tomllib.loads)
Audit = Callable[[Path], tuple[int, str]]


@pytest.fixture
def audit(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Audit:
    """Return what audits a folder of tables: the exit code, and what is printed."""
    # Of four tables, only one is planted in.
    monkeypatch.setattr(tomllib, "loads", _loads)

    def run(folder: Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["audit_releases", "--data", str(folder)])
        return audit_releases.main(), capsys.readouterr().out

    return run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a copy of the tables to plant defects in."""
    for name in TABLES:
        shutil.copy(DATA / name, tmp_path / name)
    return tmp_path


def test_the_tables_hold_nothing_unknown(audit: Audit) -> None:
    """Everything that contradicts itself is listed, and everything listed is still so."""
    status, said = audit(DATA)
    assert status == 0, said
    assert "0 unknown, 0 gone" in said
    assert "known: version without a tag: 1.17.0" in said
    assert said.count("known: tag disagrees: ") >= 6


# The table, what to replace (once) by what, and what the audit says then.
DEFECTS = {
    "untagged version": (
        "versions.toml",
        'tag = "v1.9.0"\n',
        "",
        "UNKNOWN: version without a tag: 1.9.0",
    ),
    "other tag date": (
        "versions.toml",
        'tag_date = "2025-01-30"',
        'tag_date = "2025-01-31"',
        "UNKNOWN: tag dates differ: 1.9.0",
    ),
    "format goes back": (
        "versions.toml",
        'feature = "tan"\nbytecode_format = 6',
        'feature = "tan"\nbytecode_format = 5',
        "UNKNOWN: bytecode format goes back: 1.4.0",
    ),
    "row twice": (
        "versions.toml",
        'version = "1.9.0"',
        'version = "1.8.0"',
        "UNKNOWN: row twice: 1.8.0",
    ),
    "no source": (
        "versions.toml",
        'source = "openxla/stablehlo @7c50d4efeaea"\n',
        "",
        "UNKNOWN: incomplete row: 1.9.0: without source",
    ),
    "no evidence": (
        "releases.toml",
        r'version = "0.9.0"\n((?:.+\n)*?)evidence = .*\n',
        r'version = "0.9.0"\n\1',
        "UNKNOWN: incomplete row: jaxlib 0.9.0: without evidence",
    ),
    "release sinks": (
        "releases.toml",
        'current = "1.13.8"',
        'current = "1.12.3"',
        "UNKNOWN: current below an older release's: jaxlib 0.9.1",
    ),
    "window sinks": (
        "releases.toml",
        'week_4 = "1.10.3"',
        'week_4 = "1.9.1"',
        "UNKNOWN: week_4 below an older release's: jaxlib 0.6.1",
    ),
    "unheard-of version": (
        "releases.toml",
        'current = "1.13.8"',
        'current = "1.13.77"',
        "UNKNOWN: version not in the history: jaxlib 0.9.1: 1.13.77",
    ),
    "names of a newer version": (
        "releases.toml",
        'current = "1.24.0"',
        'current = "1.23.0"',
        "UNKNOWN: names show another version: libtpu 0.0.52: says 1.23.0",
    ),
    "release too early": (
        "releases.toml",
        'date = "2026-03-02"',
        'date = "2025-12-31"',
        "UNKNOWN: release before its version: jaxlib 0.9.1",
    ),
    "minimum too high": (
        "releases.toml",
        'minimum = "0.9.0"',
        'minimum = "0.15.0"',
        "UNKNOWN: minimum above current: jaxlib 0.4.13",
    ),
    "moved tag": (
        "history.toml",
        'tag_commit = "48a1e14edc82"',
        'tag_commit = "b62dc66da994"',
        "UNKNOWN: tag disagrees: 1.9.0: its commit says 1.9.1",
    ),
    "tag shared": (
        "history.toml",
        'tag_commit = "48a1e14edc82"',
        'tag_commit = "7775e3e2f98f"',
        "UNKNOWN: tag disagrees: 1.9.0 or 1.9.1",
    ),
    "tag too early": (
        "history.toml",
        'tag_date = "2025-01-30"',
        'tag_date = "2025-01-27"',
        "UNKNOWN: tag before its version: 1.9.0",
    ),
    "dates backwards": (
        "history.toml",
        'version = "1.9.1", date = "2025-01-29"',
        'version = "1.9.1", date = "2025-01-02"',
        "UNKNOWN: dates out of order: 1.9.0 1.9.1",
    ),
    "version skipped": (
        "history.toml",
        r"  \{version = \"1.9.2\".*\n",
        "",
        "UNKNOWN: version in no public commit: 1.9.2",
    ),
    "young anchor": (
        "history.toml",
        'current = "1.9.6", week_4 = "1.9.0"',
        'current = "1.9.6", week_4 = "1.9.3"',
        "UNKNOWN: anchor too young: 2025-02-28 week_4",
    ),
    "old anchor": (
        "history.toml",
        'current = "1.9.6", week_4 = "1.9.0"',
        'current = "1.9.6", week_4 = "1.8.0"',
        "UNKNOWN: anchor older than its window: 2025-02-28 week_4",
    ),
    "anchor of nothing": (
        "history.toml",
        'current = "1.9.6", week_4 = "1.9.0"',
        'current = "1.9.6", week_4 = "1.9.77"',
        "UNKNOWN: anchor without a tag: 2025-02-28 week_4: 1.9.77",
    ),
    "listed, but gone": (
        "discrepancies.toml",
        'subjects = ["0.20.0",',
        'subjects = ["0.20.0", "0.18.0",',
        "GONE: version without a tag: 0.18.0",
    ),
    "not listed": (
        "discrepancies.toml",
        '"1.12.0", "1.15.1"',
        '"1.15.1"',
        "UNKNOWN: tag disagrees: 1.12.0: its commit says 1.11.1",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found(data: Path, defect: str, audit: Audit) -> None:
    """Each kind of contradiction fails the audit and is named with its subject."""
    name, old, new, expected = DEFECTS[defect]
    path = data / name
    text = path.read_text(encoding="utf-8")
    pattern = old if old.startswith(("  ", 'version = "0.9.0"')) else re.escape(old)
    planted = re.sub(pattern, new, text, count=1)
    assert planted != text
    path.write_text(planted, encoding="utf-8")
    status, said = audit(data)
    assert status == 1
    assert expected in said
