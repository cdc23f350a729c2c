"""Child processes for code that is not ours."""
