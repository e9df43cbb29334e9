"""The page of the model zoo is what was measured, and the default backend does them all."""

import json
import statistics

import pytest

from tools import model_zoo, zoo_programs


def test_the_page_is_what_was_measured() -> None:
    """Nobody edits it by hand; `python -m tools model_zoo write` regenerates it."""
    assert model_zoo.PAGE.read_text("utf-8") == model_zoo.page()


def test_the_default_backend_exports_every_model() -> None:
    """All static ones and all with an open batch, at the lowest Version, near to eager."""
    found = json.loads(model_zoo.MEASURED.read_text("utf-8"))["torchax"]
    assert (len(found["static"]), len(found["dynamic"])) == (15, 5)
    for entry in (*found["static"].values(), *found["dynamic"].values()):
        assert entry["target"] == "0.9.0"
        assert entry["difference"] <= model_zoo.NEAR


def test_the_oracle_agrees_on_every_model() -> None:
    """Eager PyTorch, AOTInductor and the artifact, on every set of inputs that was tried."""
    measured = json.loads(model_zoo.MEASURED.read_text("utf-8"))["torchax"]
    wanted = {f"{group} {name}" for group in ("static", "dynamic") for name in measured[group]}
    found = json.loads(model_zoo.AGREED.read_text("utf-8"))
    assert set(found) == wanted
    for name, entry in found.items():
        assert entry["same"], name
        assert entry["target"] == "0.9.0"
        assert entry["sets"] == (6 if name.startswith("dynamic") else 3)
        assert entry["agreed"] == {"aotinductor": entry["sets"], "pjrt": entry["sets"]}


def test_programs_of_jax_are_exported_and_equal() -> None:
    """At least 95 of 100, all of them measured, at the lowest Version but for a few."""
    noted = json.loads(zoo_programs.NOTED["jax"].read_text("utf-8"))
    found = noted["programs"].values()
    assert len(found) == noted["programs in all"] >= 80
    assert sum(entry.get("equal", False) for entry in found) >= 0.95 * len(found)
    assert sum(entry.get("target") == "0.9.0" for entry in found) >= 0.95 * len(found)


def test_programs_of_pytorch_are_exported_and_equal() -> None:
    """At least 95 of 100 that PyTorch itself traces."""
    noted = json.loads(zoo_programs.NOTED["torch"].read_text("utf-8"))
    assert len(noted["programs"]) >= 150
    found = [e for e in noted["programs"].values() if not {"not traced", "not built"} & e.keys()]
    assert sum(entry.get("equal", False) for entry in found) >= 0.95 * len(found)


@pytest.mark.parametrize("framework", sorted(zoo_programs.NOTED))
def test_an_export_costs_about_what_the_backend_does(framework: str) -> None:
    """In the middle 1.15 times its time, never over 1.5 times, and 1.2 times its memory."""
    found = json.loads(zoo_programs.NOTED[framework].read_text("utf-8"))["programs"].values()
    times = [entry["ratio"] for entry in found if "ratio" in entry]
    assert statistics.median(times) <= 1.15
    assert max(times) <= 1.5
    peaks = [entry["memory"] for entry in found if "memory" in entry]
    assert max(peaks) <= 1.2


@pytest.mark.parametrize("framework", sorted(zoo_programs.NOTED))
def test_no_program_computes_something_else(framework: str) -> None:
    """What is exported is equal to eager, is known not to be executed, or has its reason."""
    noted = json.loads(zoo_programs.NOTED[framework].read_text("utf-8"))
    for name, entry in noted["programs"].items():
        reasons = {"refused", "not executed", "not traced", "not built"} & entry.keys()
        assert entry.get("equal", False) != bool(reasons), name
