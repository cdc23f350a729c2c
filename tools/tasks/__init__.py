"""Entry points that run inside a sandbox child; the only modules that import torch."""
