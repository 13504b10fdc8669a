"""What the controller refuses, each with one line a person can act on.

ControllerError
├── BadRequest       the command line or a run file asks for something that does not exist
├── Impossible       the plan asks for what the chosen desks, agents or prices cannot give
├── RunBusy          another controller owns the run
├── BadRecord        a folder is not a run, or its format is unknown
└── NothingScored    a run ended without one score
"""

from __future__ import annotations


class ControllerError(Exception):
    """Root of the tree."""


class BadRequest(ControllerError):
    """Asked for something unknown or malformed."""


class Impossible(ControllerError):
    """Known before anything starts to be impossible."""


class RunBusy(ControllerError):
    """Another controller owns this run."""


class BadRecord(ControllerError):
    """A record cannot be read."""


class NothingScored(ControllerError):
    """Zero scored trials is an error, not an empty report."""
