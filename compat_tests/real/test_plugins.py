"""Real PJRT plugins, asked without a device."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.helpers.eras import marked
from portable.releases import find_release, resolve_target
from portable.releases.plugin import ask_plugin
from portable.releases.release import as_release
from portable.runtime.environments import Environment, Environments
from portable.runtime.measuring import add_own, measure, shipped_rows

pytestmark = pytest.mark.old_releases


@pytest.mark.parametrize(
    "name",
    [marked([n], n) for n in ("xla-cpu-pjrt 0.0.1", "lammps-jax-pjrt-cpu 0.11.2", "libtpu 0.0.30")],
)
def test_a_real_plugin_says_what_the_table_says(
    release: Callable[[str], Environment], name: str
) -> None:
    """The plugin of the wheel answers in a child process; the row of the table agrees."""
    library = release(name).library
    assert library is not None
    row = find_release(name)
    assert ask_plugin(library).current == row.current
    target = resolve_target(f"plugin:{library}", "jaxlib>=0.5")
    assert target.version == min(row.target, resolve_target("jaxlib>=0.5").version)


@pytest.mark.parametrize("name", [marked(["xla-cpu-pjrt 0.0.1"], "xla-cpu-pjrt 0.0.1")])
def test_what_is_added_by_its_name_is_measured(
    release: Callable[[str], Environment],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`releases add NAME==VERSION` asks the index and the Release; the table agrees."""
    release(name)
    row = measure(name.replace(" ", "=="), Environments(), shipped_rows())
    assert (row["method"], row["date"]) == ("plugin", "2025-11-21")
    shipped = find_release(name)
    assert (as_release(row).current, as_release(row).minimum) == (shipped.current, shipped.minimum)
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path))
    assert shipped.version in add_own(row).read_text("utf-8")
