"""Where verifiers run: one process apart, without network, host paths or unbounded appetite."""

from practicum.verifiers.jail.grading import grade
from practicum.verifiers.jail.limits import JailLimits, Resource

__all__ = ["JailLimits", "Resource", "grade"]
