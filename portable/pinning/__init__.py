"""From a program to an artifact: the pipeline, its rewrites, and why a target is out of reach."""
