"""Let the tests import `tools` and each other, without hiding the installed package."""

import os
import sys
from pathlib import Path

import portable

ROOT = Path(__file__).parent.parent

# At the end: `portable` has to come from where it is installed, not from the checkout.
sys.path.append(str(ROOT))

if "TOX_ENV_NAME" in os.environ and ROOT / "portable" in Path(portable.__file__).parents:
    raise RuntimeError("tox tests the wheel, but `portable` was imported from the checkout")
