"""Defines nothing that could be run."""

import torch


class Other(torch.nn.Module):
    pass
