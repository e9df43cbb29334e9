"""Real Releases: environments that hold them, executors, observations, comparisons."""
