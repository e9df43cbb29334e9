"""What runs inside one Release's own Python, next to its native code.

Started by path, never installed there: only the standard library may be imported at module top,
and nothing of `portable` outside this folder.
"""
