"""Needs torch and torch_xla alone. Exits with 1 where the result is wrong."""

import os
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")
import torch
import torch_xla.core.xla_model as xm

RIGHT = "nan"

one, nan = (torch.full((8,), number).to(xm.xla_device()) for number in (1.0, float("nan")))
found = str(torch.maximum(one, nan).cpu().tolist()[0])
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
