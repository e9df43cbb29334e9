"""Each defect of a Release that an Advisory knows has a folder in docs/findings, or a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from portable.releases.advisory import Effect, advisories

DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = sorted(path for path in (DOCS / "findings").iterdir() if path.is_dir())
# Why there is none: not each is a defect, and not each can be shown by a wheel alone.
WITHOUT = {
    **dict.fromkeys(
        ("sort-of-nan", *(f"sort-of-nan-{one}" for one in ("iree", "tensorflow", "torch-xla"))),
        "the specification leaves it open",
    ),
    **dict.fromkeys(
        ("negative-exponents", "negative-exponents-iree"), "the specification leaves it open"
    ),
    **dict.fromkeys(
        (
            *("initial-value-dropped", "rounded-bits", "reduced-in-parts"),
            *(f"reduced-in-parts-{one}" for one in ("tensorflow", "torch-xla")),
            *(f"rounded-bits-{one}" for one in ("iree", "tensorflow", "torch-xla")),
        ),
        "the specification leaves it open",
    ),
    **dict.fromkeys(
        (
            "exponential-of-a-cholesky",
            *(f"exponential-of-a-cholesky-{one}" for one in ("tensorflow", "torch-xla")),
        ),
        "the specification says nothing of the cholesky of what is not positive definite",
    ),
    **dict.fromkeys(
        (
            "nan-without-a-mantissa",
            *(f"nan-without-a-mantissa-{one}" for one in ("tensorflow", "torch-xla")),
        ),
        "a float without bits of mantissa has no NaN",
    ),
    "initial-value-dropped-iree": "the specification leaves it open",
    "rng-bits-of-three-words-iree": "the specification leaves it open",
    "initial-value-dropped-tensorflow": "the specification leaves it open",
    "initial-value-dropped-torch-xla": "the specification leaves it open",
    **dict.fromkeys(
        ("initial-value-repeated-cuda", "products-in-tf32-cuda"), "the specification leaves it open"
    ),
    **dict.fromkeys(
        (
            *("convolution-saturates-cuda", "product-of-bytes-doubled-cuda", "sign-of-nan-cuda"),
            "sort-by-a-constant-cuda",
        ),
        "only a GPU shows it: docs/cuda.md",
    ),
    "loop-without-arguments-crash-iree": "mended in 3.10.0, which refuses it, and 3.11.0",
    "sort-from-the-end-in-some-processes": "none of 52 processes on 2026-11-25 showed it",
    "recursion-unused-crash": "mended in 0.5.3, which leaves the function out",
    "sort-beside-a-constant-changed-iree": "mended in 3.1.0, which refuses it",
    "strided-to-one-iree": "mended in 3.11.0",
    "unranked-argument-crash-iree": "mended in 3.12.0, which refuses it",
    **dict.fromkeys(
        (
            *(f"{what}-of-booleans-torch-xla-aborts" for what in ("multiply", "convolution")),
            "returned-beside-what-computes-it-torch-xla",
            "rng-bits-are-unsigned-crash-torch-xla",
            "conditional-in-a-body-torch-xla",
            "channel-of-different-collectives-torch-xla-aborts",
        ),
        "jaxlib and newer torch_xlas refuse what ends torch_xla 2.1 and 2.2",
    ),
    "i2-computed-in-bodies": "mended in 0.7.1, which computes i2 wrongly otherwise",
    "power-of-few-bits": "mended in 0.7.1",
    **dict.fromkeys(
        ("eleven-crash", "halves-taken-apart-crash"), "mended in 0.4.24, and not on all processors"
    ),
    "fft-in-a-loop-crash": "mended in 0.7.2",
    "fft-in-a-loop-crash-tensorflow": "mended in 2.21.0",
    "fft-in-a-loop-crash-torch-xla": "as in jaxlib, which mended it in 0.7.2",
    "reduce-of-two-bits-in-a-loop-crash": "mended in 0.8.0",
    "scatter-into-two-bits": "mended in 0.8.0, and often right by luck",
    "windows-of-two-bits": "mended in 0.5.3",
    "complex-sums-together-crash-iree": "mended in 3.7.0",
    "torch-xla-newer-target": "torch_xla 2.1.0 runs on Python 3.11 and earlier, with torch 2.1",
}
WRONG = (
    *("Wrong", "Different", "Differs", "Refused", "Crashes", "Aborts", "Hangs", "Does not end"),
)
_NAMED = re.compile(r"`([a-z0-9][a-z0-9-]*)`")
_SHORT = re.compile(r"`(-[a-z0-9-]+)`")


def named(text: str) -> set[str]:
    """Return the Advisories that a page names, those too of which only the last words are said."""
    whole = set(_NAMED.findall(text))
    return whole | {name + ending for name in whole for ending in _SHORT.findall(text)}


NAMED = {path.name: named((path / "README.md").read_text("utf-8")) for path in FOLDERS}
DEFECTS = [row for row in advisories() if row.effect is not Effect.REFUSES]


@pytest.mark.parametrize("advisory", [row.id for row in DEFECTS])
def test_an_advisory_of_a_defect_has_a_folder_or_a_reason(advisory: str) -> None:
    """One of them, and not both."""
    has = any(advisory in names for names in NAMED.values())
    assert has is (advisory not in WITHOUT)


@pytest.mark.parametrize("name", NAMED)
def test_a_folder_is_whole(name: str) -> None:
    """It says where it is wrong and right, what is specified, and who knows; the page names it."""
    folder = DOCS / "findings" / name
    text = (folder / "README.md").read_text("utf-8")
    assert "\n- Specification: " in text
    assert re.search(rf"\n- (?:{'|'.join(WRONG)}): ", text)
    assert re.search(r"(?:\n- |\. )(?:Known|Reported|Not reported)", text)
    assert list(folder.glob("reproduce*.py"))
    assert list(folder.glob("*.mlir*")) or "program.mlir" not in text
    assert f"](findings/{name}/README.md)" in (DOCS / "findings.md").read_text("utf-8")
