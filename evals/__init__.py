"""Problems, suites and their results."""
