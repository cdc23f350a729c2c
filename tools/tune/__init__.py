"""Machine search: a kernel's numbers found by compiling and timing, not by paying a model for guesses.

`search.tune` is the whole of it. `space` says what may be chosen, `apply` writes a point's kernel, `order` which point
comes next, `compiling` what a compiled point is, `prune` which of them are hopeless, `halving` times the rest.
"""
