"""Backbones and the code, profile and debug agents. Never touches a GPU but through `egg.tools`."""
