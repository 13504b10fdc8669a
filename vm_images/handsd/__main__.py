"""`python3 -m practicum.vm_images.handsd BOUND [alone]`: serve on standard input and output until they close.

In `BOUND` seconds the display must answer; `alone` says that commands run as who we are.
"""

from __future__ import annotations

import sys

from practicum.vm_images.handsd.spawn import Spawner


def main() -> None:
    spawner = Spawner()  # before threads, and before whatever need not be copied into each command's parent
    import time  # noqa: PLC0415

    from practicum.vm_images.handsd.display import Display  # noqa: PLC0415
    from practicum.vm_images.handsd.server import Server  # noqa: PLC0415

    display = Display()
    display.start(time.monotonic() + float(sys.argv[1]))
    Server(spawner, display, sys.stdin.buffer, sys.stdout.buffer, alone="alone" in sys.argv[2:]).serve()


main()
