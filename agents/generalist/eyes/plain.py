"""Eyes that show the screen as it is."""

from __future__ import annotations

from dataclasses import dataclass

from practicum.agents.agent import Text
from practicum.agents.generalist.eyes.picture import show
from practicum.agents.generalist.layers import Sight, Touch
from practicum.agents.generalist.limits import Limits
from practicum.agents.generalist.view import Size, Space, View
from practicum.infra.desk.desk import Frame


@dataclass(frozen=True, slots=True)
class PlainEyes:
    """`side` scales below the model's own limit; `space` is how the model names places."""

    limits: Limits
    space: Space
    keep: int = 3
    side: int | None = None

    def guide(self, view: View) -> str:
        return view.spelled

    def see(self, frame: Frame, touch: Touch) -> Sight:  # touch: plain eyes need nothing but the frame
        image = show(frame, self.limits, self.side)
        view = View(Size(frame.width, frame.height), Size(image.width, image.height), self.space)
        return Sight((*unsettled(frame), image), view)


def unsettled(frame: Frame) -> tuple[Text, ...]:
    """A word of warning where the screen had not come to rest."""
    return () if frame.settled else (Text("The screen was still changing when this was taken."),)
