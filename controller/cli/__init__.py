"""The `practicum` command."""
