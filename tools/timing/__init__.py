"""How fast: all sides in turns, each in a process of its own, and whether the difference is real."""
