"""One process per Release: jobs in, answers out, and a native crash costs one job."""

from __future__ import annotations

from portable.system.worker.answer import Answer, Status
from portable.system.worker.supervisor import LIMIT_S, Driver, Worker, WorkerFailed, drivers

__all__ = ["LIMIT_S", "Answer", "Driver", "Status", "Worker", "WorkerFailed", "drivers"]
