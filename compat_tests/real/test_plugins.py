"""Real PJRT plugins, asked without a device."""

from collections.abc import Callable

import pytest

from compat_tests.helpers.eras import marked
from portable.releases import find_release, resolve_target
from portable.releases.plugin import ask_plugin
from portable.runtime.environments import Environment

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
