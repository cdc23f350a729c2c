"""Right or not: a candidate's child is called, a referee's compares what it leaves."""
