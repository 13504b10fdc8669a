"""How far a build is, read from its log: apt says how many packages it will fetch, unpack and set up."""

from __future__ import annotations

import re

_STEP = re.compile(r"^Step (\d+)/(\d+) :")
_PLAN = re.compile(r"(\d+) newly installed")
_PACKAGE = re.compile(r"^(?:Get:\d+ .*\[|Unpacking |Setting up )")
_PACKAGE_EVENTS = 3
_STEPS_SHARE = 0.1


class Meter:
    """Feed it every line; `done` never falls and stays below 1."""

    def __init__(self) -> None:
        self.done = 0.0
        self._steps = 0.0
        self._expected = 0
        self._seen = 0

    def feed(self, line: str) -> float:
        if step := _STEP.match(line):
            self._steps = (int(step[1]) - 1) / int(step[2])
        elif plan := _PLAN.search(line):
            self._expected += _PACKAGE_EVENTS * int(plan[1])
        elif self._expected and _PACKAGE.match(line):
            self._seen += 1
        packages = min(1.0, self._seen / self._expected) if self._expected else 0.0
        now = _STEPS_SHARE * self._steps + (1 - _STEPS_SHARE) * packages
        self.done = max(self.done, min(0.99, now))
        return self.done
