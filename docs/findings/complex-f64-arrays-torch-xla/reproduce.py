"""Needs torch and torch_xla alone. Exits with 1 where the result is wrong."""

import os
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")
import torch
import torch_xla.core.xla_model as xm

RIGHT = [1 + 2j, 3 - 4j]

given = torch.tensor(RIGHT, dtype=torch.complex128)
found = given.to(xm.xla_device()).cpu().tolist()
print(f"right: {RIGHT}, found: {found}")
sys.exit(found != RIGHT)
