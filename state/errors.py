"""The two kinds of failure that are nobody's kernel's fault."""


class UserError(Exception):
    """Something the user can put right. The message is one line and says what to do; the command exits with 2."""


class MachineError(Exception):
    """This machine cannot do what is needed (a child process will not start, the GPU is gone). Never a verdict."""
