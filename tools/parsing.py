"""Python's parser, for one thread at a time.

CPython 3.11 counts how deep it is in a tree in one place for all threads; two that parse at once may end in a
`SystemError: AST constructor recursion depth mismatch`.
"""

import ast
import threading

_lock = threading.Lock()


def parse(source: str) -> ast.Module:
    """`ast.parse`.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as it does.
    """
    with _lock:
        return ast.parse(source)


def parse_expression(source: str) -> ast.Expression:
    """The same of one expression."""
    with _lock:
        return ast.parse(source, mode="eval")
