"""A Matrix as text, JSON, JUnit XML, Markdown, or one static HTML page."""

from __future__ import annotations

from portable.matrix.report.rendering import FORMATS, UnknownFormat, render
from portable.matrix.report.reproducer import reproducer

__all__ = ["FORMATS", "UnknownFormat", "render", "reproducer"]
