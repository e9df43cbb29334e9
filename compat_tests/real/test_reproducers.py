"""The reproducers of docs/findings, on the Releases that they are about: with the wheel alone."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat_tests.helpers.eras import marked
from portable.runtime.environments import Environment

FINDINGS = Path(__file__).parents[2] / "docs" / "findings"
# Whether each shows it.
SHOWN = {
    ("count-leading-zeros-folded", "jaxlib 0.9.1"): True,
    ("count-leading-zeros-folded", "jaxlib 0.10.2"): True,
    ("count-leading-zeros-folded", "jaxlib 0.12.0.1"): False,
    ("interpreter-irfft-odd", "jaxlib 0.12.0.1"): True,
    ("interpreter-dot-over-nothing", "jaxlib 0.12.0.1"): True,
    ("interpreter-total-order", "jaxlib 0.12.0.1"): True,
    ("integer-power-modulo-64", "jaxlib 0.10.2"): True,
    ("integer-power-modulo-64", "jaxlib 0.12.0.1"): True,
    ("convolution-padding-skipped", "jaxlib 0.12.0.1"): True,
    ("complex-constant-converted-crash", "jaxlib 0.12.0.1"): True,
    ("i2-concatenate-crash", "jaxlib 0.12.0.1"): True,
    ("promotion-dropped", "jaxlib 0.12.0.1"): True,
    ("recursion-crash", "jaxlib 0.12.0.1"): True,
    ("quantized-stored-in-floats", "jaxlib 0.12.0.1"): True,
    ("scatter-promotion-dropped", "jaxlib 0.12.0.1"): True,
    ("all-reduce-by-another-computation", "jaxlib 0.12.0.1"): True,
    ("all-reduce-converting-bf16", "jaxlib 0.12.0.1"): True,
    ("broadcast-of-nothing", "jaxlib 0.8.0"): True,
    ("broadcast-of-nothing", "jaxlib 0.12.0.1"): False,
    ("complex-extremes", "jaxlib 0.12.0.1"): True,
    ("complex-order-refused-again", "jaxlib 0.12.0.1"): True,
    ("scatter-into-a-scalar", "jaxlib 0.12.0.1"): True,
    ("declaration-crash", "jaxlib 0.12.0.1"): True,
    ("f6-constant-crash", "jaxlib 0.12.0.1"): True,
    ("integer-attribute-of-two-bits", "jaxlib 0.12.0.1"): True,
    ("malformed-attribute-crash", "jaxlib 0.12.0.1"): True,
    ("mesh-symbol-not-found", "jaxlib 0.10.1"): False,
    ("mesh-symbol-not-found", "jaxlib 0.12.0.1"): True,
    ("padding-dropped", "jaxlib 0.12.0.1"): True,
    ("slice-of-a-slice", "jaxlib 0.10.2"): True,
    ("slice-of-a-slice", "jaxlib 0.12.0.1"): False,
    ("sum-of-a-constant-over-devices", "jaxlib 0.12.0.1"): True,
    ("update-by-itself", "jaxlib 0.12.0.1"): True,
    ("variadic-all-to-all", "jaxlib 0.12.0.1"): True,
    ("window-cut-crash", "jaxlib 0.12.0.1"): True,
    ("division-by-large", "jaxlib 0.12.0.1"): True,
    ("log-of-power", "jaxlib 0.12.0.1"): True,
    ("windows-not-spread", "jaxlib 0.10.1"): False,
    ("windows-not-spread", "jaxlib 0.12.0.1"): True,
    ("sort-by-a-constant-iree", "iree-base-compiler 3.13.0"): True,
    ("sort-unstable-iree", "iree-base-compiler 3.13.0"): True,
    ("bf16-identity-iree", "iree-base-compiler 3.4.0"): True,
    ("bf16-identity-iree", "iree-base-compiler 3.13.0"): False,
    ("iree-empty-argument", "iree-base-compiler 3.4.0"): True,
    ("iree-empty-argument", "iree-base-compiler 3.13.0"): False,
    ("add-of-constant-booleans", "jaxlib 0.12.0.1"): True,
    ("add-of-booleans", "iree-base-compiler 3.13.0"): True,
    ("argument-overwritten", "iree-base-compiler 3.13.0"): True,
    ("scatter-batching-crash", "iree-base-compiler 3.13.0"): True,
    ("atan2-of-zeros", "iree-base-compiler 3.13.0"): True,
    ("cbrt-of-infinity", "iree-base-compiler 3.13.0"): True,
    ("complex-f64-constant-crash", "iree-base-compiler 3.13.0"): True,
    ("complex-padding-crash", "iree-base-compiler 3.13.0"): True,
    ("dot-of-unsigned-iree", "iree-base-compiler 3.13.0"): True,
    ("dot-over-nothing-crash", "iree-base-compiler 3.13.0"): True,
    ("iree-variadic-collectives", "iree-base-compiler 3.13.0"): True,
    ("recursion-iree", "iree-base-compiler 3.13.0"): True,
    ("sort-from-the-end-iree", "iree-base-compiler 3.13.0"): True,
    ("power-of-floats-iree", "iree-base-compiler 3.13.0"): True,
    ("scatter-nothing-crash", "iree-base-compiler 3.13.0"): True,
    ("sine-of-large-numbers", "iree-base-compiler 3.13.0"): True,
}


def test_every_finding_has_a_reproducer() -> None:
    """And is tried below; of 20 lines at most."""
    folders = {path.name for path in FINDINGS.iterdir() if path.is_dir()}
    assert folders == {name for name, _ in SHOWN}
    for name in folders:
        assert len((FINDINGS / name / "reproduce.py").read_text().splitlines()) <= 20


@pytest.mark.parametrize(("name", "on"), [marked([on], name, on) for name, on in SHOWN])
def test_a_reproducer_shows_it(name: str, on: str, release: Callable[[str], Environment]) -> None:
    """It exits with 1, or crashes, where the result is wrong, and with 0 where it is right."""
    command = [str(release(on).python), "-I", str(FINDINGS / name / "reproduce.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "found: " in done.stdout or done.returncode < 0, done.stderr
    assert bool(done.returncode) is SHOWN[name, on]
