"""What touches the operating system, one way each.

`children` starts Python in a process of its own, `files` reads and writes, `escaping` makes foreign
text fit to show.
"""
