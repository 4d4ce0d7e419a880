"""What every room may use: ties, progress, limits, memory-mapped arrays, sparse matrices, files."""

# Modules are imported by name: `choices`, `limits` and `progress` load no library.
__all__: list[str] = []
