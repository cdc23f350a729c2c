"""Instruments: deterministic, never calling a model. What a model may call is in `egg.agents`."""
