"""Bodies: control loops."""
