"""OccuBench's released files (arXiv 2604.10866) as language worlds: read as they are, never shipped."""
