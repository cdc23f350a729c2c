"""Hardware counters of a candidate's kernels, read by Nsight Compute within the candidate's sandbox."""
