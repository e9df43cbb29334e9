"""The page of the model zoo is what was measured, and the default backend does them all."""

import json

from tools import model_zoo


def test_the_page_is_what_was_measured() -> None:
    """Nobody edits it by hand; `python -m tools.model_zoo write` makes it anew."""
    assert model_zoo.PAGE.read_text("utf-8") == model_zoo.page()


def test_the_default_backend_exports_every_model() -> None:
    """All static ones and all with an open batch, at the lowest Version, near to eager."""
    found = json.loads(model_zoo.MEASURED.read_text("utf-8"))["torchax"]
    assert (len(found["static"]), len(found["dynamic"])) == (15, 5)
    for entry in (*found["static"].values(), *found["dynamic"].values()):
        assert entry["target"] == "0.9.0"
        assert entry["difference"] <= model_zoo.NEAR
