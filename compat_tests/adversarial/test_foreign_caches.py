"""What others put into the cache is neither executed nor believed."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat_tests.helpers.wheels import Wanted
from portable.escaping import json_text
from portable.matrix.batch import Observation
from portable.matrix.store import Key, Store, StoreUnusable, default_path
from portable.releases.table import own_rows
from portable.runtime.environments import EnvironmentFailed, Environments
from portable.runtime.environments import cache as caching
from portable.runtime.environments.recipe import Recipe
from portable.runtime.measuring import add_own, shipped_rows
from portable.system.places import ForeignCache
from portable.system.worker import Status
from portable.verdict import Basis, Outcome, Stage, Verdict

WANTED = Wanted("torch-mlir")
NOBODY = 65534


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache with one environment that is whole, as far as it says itself."""
    recipe = Recipe.of(WANTED)
    folder = tmp_path / "cache" / "environments" / recipe.name
    (folder / "bin").mkdir(parents=True)
    (folder.parent / ".locks").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "pyvenv.cfg").touch()
    (folder / "a").touch()
    record = {"schema": 1, "recipe": recipe.record(), "python": str(folder / "bin" / "python")}
    record |= {"library": None, "wheel": "", "sha256": "", "verified": True, "files": {"a": 0}}
    (folder / "portable-environment.json").write_text(json.dumps(record))
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _given_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del monkeypatch
    if os.geteuid():
        pytest.skip("only the superuser gives files away")
    os.chown(path, NOBODY, NOBODY)


def _of_another(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give away a link, which leads to what is one's own."""
    _given_away(path.rename(path.with_name("moved")).parent, monkeypatch)
    path.symlink_to(path.with_name("moved"))
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    os.chown(path.parent, os.geteuid(), -1)


def _open_to_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del monkeypatch
    path.chmod(0o777)


PLACES = ["", "environments", "environments/.locks", "environments/{}", "environments/{}/bin"]
PLACES += ["environments/{}/pyvenv.cfg", "environments/{}/portable-environment.json"]
WAYS = [_given_away, _of_another, _open_to_all]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_an_environment_of_others_is_not_used(
    place: str,
    way: Callable[[Path, pytest.MonkeyPatch], None],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its interpreter would be executed, or what is imported there."""
    name = Recipe.of(WANTED).name
    assert Environments().get(WANTED).name == Environments().find(name).name
    way(cache / place.format(name), monkeypatch)
    with pytest.raises(ForeignCache, match="PORTABLE_TRUST_CACHE"):
        Environments().get(WANTED)
    with pytest.raises(ForeignCache, match="PORTABLE_TRUST_CACHE"):
        Environments().find(name)
    monkeypatch.setenv("PORTABLE_TRUST_CACHE", "1")
    assert Environments().get(WANTED).name == name


@pytest.mark.parametrize("way", [_given_away, _open_to_all])
def test_tables_and_observations_of_others_are_not_believed(
    way: Callable[[Path, pytest.MonkeyPatch], None],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They would decide Verdicts."""
    table, observations = cache / "releases.toml", cache / "observations.sqlite"
    table.touch()
    observations.touch()
    assert default_path() == observations
    way(table, monkeypatch)
    way(observations, monkeypatch)
    with pytest.raises(ForeignCache):
        default_path()
    with pytest.raises(ForeignCache):
        own_rows("release")


def test_where_only_owners_replace_their_own_is_no_danger(cache: Path) -> None:
    """As in /tmp."""
    cache.chmod(0o1777)
    assert Environments().get(WANTED)


def test_a_lock_cuts_no_file(cache: Path, tmp_path: Path) -> None:
    """That of the own table may be a link that somebody else has left."""
    kept = tmp_path / "kept"
    kept.write_text("mine")
    (cache / "releases.lock").symlink_to(kept)
    row = next(row for row in shipped_rows() if row["distribution"] == "jaxlib")
    add_own(row)
    assert kept.read_text() == "mine"


def test_a_lock_that_is_a_pipe_is_not_waited_for(cache: Path) -> None:
    """Of an environment, for one user of it and for many, and of the own table."""
    name = Recipe.of(WANTED).name
    row = next(row for row in shipped_rows() if row["distribution"] == "jaxlib")
    pipe = cache / "environments" / ".locks" / name
    os.mkfifo(pipe)
    os.mkfifo(cache / "releases.lock")
    environment = Environments().find(name)

    def work() -> None:
        with environment.worker() as worker:
            worker.ask({"kind": "probe"})
        add_own(row)
        Environments().clear([name])

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert not environment.directory.exists()


@pytest.fixture
def read_only(cache: Path) -> Iterator[Path]:
    """Return the cache on a file system that takes nothing, as in an image that others run."""
    options = ["--bind", str(cache), str(cache)]
    if os.geteuid() or subprocess.run(["mount", *options], check=False).returncode:
        pytest.skip("cannot mount a file system here")
    subprocess.run(["mount", "-o", "remount,ro,bind", str(cache)], check=True)
    yield cache
    subprocess.run(["umount", "-l", str(cache)], check=True)


def test_a_cache_that_cannot_be_written_is_used(read_only: Path) -> None:
    """Its environments are whole: that they were used cannot be noted, and needs no lock."""
    environment = Environments().get(WANTED)
    assert environment.name == Recipe.of(WANTED).name
    with environment.worker() as worker:
        assert worker.ask({"kind": "probe"}).status is Status.UNAVAILABLE
    with pytest.raises(OSError, match="Read-only"):
        (read_only / "environments" / ".locks" / environment.name).touch()


def test_an_environment_that_is_cleared_meanwhile_is_gone(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may remove it between any two looks at it."""
    folder = cache / "environments" / Recipe.of(WANTED).name

    def gone(*_: object) -> bool:
        shutil.rmtree(folder, ignore_errors=True)
        return False

    monkeypatch.setattr(caching, "broken_files", gone)
    monkeypatch.setenv("PORTABLE_OFFLINE", "1")
    with pytest.raises(EnvironmentFailed):  # nothing is installed without a network
        Environments().get(WANTED)


ODD: list[object] = [None, 1, -1, 1.5, 1 << 62, "", "x", "[", "[1]", "null", "[" * 5000]
ODD += ['[{"severity": 1}]', b"\xff", "\udcff".encode("utf-8", "surrogatepass"), "compatible"]
ODD += ['[{"a": NaN}]']


@pytest.fixture
def observed(tmp_path: Path) -> Path:
    """Return a file of observations with one of each sort."""
    path = tmp_path / "seen.sqlite"
    seen = Verdict(RELEASE, Outcome.COMPATIBLE, Stage.DECODE, Basis.OBSERVED)
    with Store(path) as store:
        for judging in (False, True):
            kept = {KEY: Observation(seen, "", 0.5, b"1")}
            store.keep(RELEASE, Stage.DECODE, kept, judging=judging)
    return path


RELEASE, KEY = "jaxlib 0.10.2", Key("0" * 64, "")


@pytest.mark.parametrize("table", ["observation", "judgement"])
def test_no_value_in_a_file_of_observations_is_an_internal_error(
    table: str, observed: Path
) -> None:
    """It is an Observation, none, or one line that says what to do."""
    with contextlib.closing(sqlite3.connect(observed)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    said = []
    for column in columns:
        change = f"UPDATE {table} SET {column} = ?"  # noqa: S608 - names of this test
        for value in ODD:
            copy = observed.with_name("copy.sqlite")
            shutil.copy(observed, copy)
            with (
                contextlib.closing(sqlite3.connect(copy)) as connection,
                connection,
                contextlib.suppress(sqlite3.IntegrityError),
            ):
                connection.execute(change, (value,))
            try:
                with Store(copy) as store:
                    found = store.find(RELEASE, Stage.DECODE, {KEY}, judging=table == "judgement")
                    store.outputs(RELEASE, KEY)
                for seen in found.values():
                    assert json_text(seen.verdict.record() if seen.verdict else "")
                    assert isinstance(seen.seconds, float | int)
            except StoreUnusable as error:
                said.append(str(error))
    assert len(said) > 10
    assert not [one for one in said if "\n" in one]


@pytest.mark.parametrize("kind", ["view", "trigger"])
def test_a_file_of_observations_computes_nothing(kind: str, tmp_path: Path) -> None:
    """A view in the place of a table may have no end."""
    path = tmp_path / "seen.sqlite"
    endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n)"
    texts = {
        "view": f"CREATE VIEW observation AS {endless} SELECT * FROM n",  # noqa: S608 - names of this test
        "trigger": "CREATE TABLE observation (a); CREATE TRIGGER t AFTER INSERT ON observation"
        " BEGIN INSERT INTO observation VALUES (1); END",
    }
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(texts[kind])
    with pytest.raises(StoreUnusable, match="choose another"):
        Store(path)
