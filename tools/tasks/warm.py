"""What recording loads late. Imported in the warm parent, as a task's module is, it spares every child two seconds.

Only modules and one hash: nothing here starts a thread or touches CUDA, neither of which survives a fork.
"""

import torch
import torch._dynamo  # every dispatch mode pulls it in
import torch._refs  # shapes of random operators on the meta device
import triton.experimental.gluon  # noqa: F401  # looked for among a kernel's arguments
from triton.runtime.cache import triton_key

TRITON_KEY = triton_key()
"""Hash of the whole of Triton, part of each kernel's cache key; half a second, then remembered."""

torch.randn(1, device="meta")
