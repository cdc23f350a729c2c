"""Records, the graph's schemas and reducers. Imports nothing else of this package."""
