"""Images: which there are, whether they are built, and building them once per digest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TextIO

import msgspec
from filelock import FileLock
from platformdirs import user_cache_path

from practicum.vm_images import debian, wheels
from practicum.vm_images.context import Entry, archive, folder_entries
from practicum.vm_images.engine import Built, Engine, Lines, StepFailed, Stopped
from practicum.vm_images.errors import BuildFailed
from practicum.vm_images.layers import GUEST, GUEST_DOCKERFILE, REPOSITORY, Layer, layers_of, tag_of
from practicum.vm_images.manifest import PACKAGES_FILE, Manifest, packages_of, programs_of
from practicum.vm_images.meter import Meter
from practicum.vm_images.recipe import Recipes, standard

LABEL = "practicum.digest"
LAYER_LABEL = "practicum.layer"
PARALLEL = 3
"""Layers at a time: while one waits for its downloads the others unpack."""
TAIL_LINES = 30
GUEST_PATH = "lib/practicum/vm_images/handsd/"
"""Where the guest program lies, so that it is imported by the same name as here."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of the layer `name`, 0 to 1, and the latest line of its log."""

    name: str
    done: float
    line: str


Report = Callable[[Progress], None]


def _silent(progress: Progress) -> None:
    del progress


@dataclass(frozen=True, slots=True)
class Images:
    """The images of one set of recipes. Naming and digests need no engine."""

    recipes: Recipes = field(default_factory=standard)
    guest: Path = GUEST
    cache: Path = field(default_factory=lambda: user_cache_path("practicum") / "images")
    repository: str = REPOSITORY
    """The first part of every tag; whoever builds from other recipes takes another one."""

    def layers(self, name: str) -> tuple[Layer, ...]:
        """In building order, the image itself last. Raises `UnknownImage`."""
        return layers_of(self.recipes, name, self.guest, self.repository)

    def digest(self, name: str) -> str:
        """Hex SHA-256 of the recipe, its parents and the guest program. Raises `UnknownImage`."""
        return self.recipes.digest(name, self.guest)

    def reference(self, name: str) -> str:
        """The tag under which the engine holds the image of the present recipe, built or not."""
        return self.layers(name)[-1].tag

    def find(self, name: str, engine: Engine) -> Built | None:
        return engine.find(self.reference(name))

    def build(self, names: Sequence[str], engine: Engine, report: Report = _silent) -> Mapping[str, Manifest]:
        """Build what is missing for these images. Raises `BuildFailed`, `NoMirror` or `EngineMissing`."""
        wanted = {name: self.layers(name) for name in names}
        with _Site(self, engine, report) as site:
            site.raise_all({layer.tag: layer for layers in wanted.values() for layer in layers})
        return {name: self._read_manifest(layers[-1], engine) for name, layers in wanted.items()}

    def manifest(self, name: str, engine: Engine) -> Manifest | None:
        """What is in the built image; None while it is not built."""
        image = self.layers(name)[-1]
        return self._read_manifest(image, engine) if engine.find(image.tag) else None

    def _read_manifest(self, layer: Layer, engine: Engine) -> Manifest:
        """From the cache after the first look into the image."""
        built = engine.find(layer.tag)
        if built is None:
            raise BuildFailed(layer.image, "manifest", f"{layer.tag} was removed while it was in use")
        kept = self.cache / "manifests" / f"{built.id.removeprefix('sha256:')}.json"
        if kept.is_file():
            return msgspec.json.decode(kept.read_bytes(), type=Manifest)
        packages = packages_of(engine.output(layer.tag, ("cat", PACKAGES_FILE)))
        programs = programs_of(layer.image, self.recipes.offers(layer.image), packages)
        manifest = Manifest(layer.image, layer.digest, built.id, built.size, programs, packages)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
        return manifest

    def stale(self, engine: Engine) -> tuple[str, ...]:
        """Tags of ours that no present recipe gives. An image that somebody else made from one of ours
        inherits its labels, so only the very tag that the labels name is ours."""
        present = {layer.tag for name in self.recipes.names() for layer in self.layers(name)}
        labelled = engine.labelled(LABEL)
        named = {
            tag_of(self.repository, built.labels.get(LAYER_LABEL, ""), built.labels[LABEL])
            for built in labelled
        }
        held = {tag for built in labelled for tag in built.tags}
        return tuple(sorted((named & held) - present))

    def prune(self, engine: Engine) -> Mapping[str, bool]:
        """Remove the stale ones; False for each that a container still uses."""
        return {tag: engine.remove(tag) for tag in self.stale(engine)}


class _Site:
    """One build: the layers that are missing, a few at a time, each after its parent."""

    def __init__(self, images: Images, engine: Engine, report: Report) -> None:
        self._images = images
        self._engine = engine
        self._report = report
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="image")

    def __enter__(self) -> _Site:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def raise_all(self, layers: Mapping[str, Layer]) -> None:
        order = TopologicalSorter({tag: {layer.parent} - {""} for tag, layer in layers.items()})
        order.prepare()
        running: dict[Future[None], str] = {}
        while order.is_active():
            running |= {self._pool.submit(self._ensure, layers[tag]): tag for tag in order.get_ready()}
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
                order.done(running.pop(future))

    def _ensure(self, layer: Layer) -> None:
        """Only one process builds a digest; the others wait for it and find it built."""
        locks = self._images.cache / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        with FileLock(locks / f"{layer.name}-{layer.digest}.lock"):
            if self._engine.find(layer.tag) is None:
                self._build(layer)
        self._report(Progress(layer.name, 1.0, "built"))

    def _build(self, layer: Layer) -> None:
        log = self._images.cache / "logs" / f"{layer.name}-{layer.digest}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        stage = f"layer {layer.name}"
        with log.open("w") as file:
            journal = _Journal(layer.name, file, self._report)
            try:
                self._run(layer, journal)
            except Stopped:
                raise
            except StepFailed as error:
                journal.line(str(error))
                raise BuildFailed(layer.image, stage, journal.tail(), log) from error

    def _run(self, layer: Layer, journal: _Journal) -> None:
        mirror = None if layer.parent else debian.host_mirror()
        parent = layer.parent or debian.provide(self._engine, mirror, journal.line)
        with archive(self._context(layer, mirror, journal.line)) as context:
            self._engine.build(
                context,
                layer.tag,
                arguments={"PARENT": parent, **debian.proxies()},
                labels={LABEL: layer.digest, LAYER_LABEL: layer.name},
                lines=journal.line,
                stop=self._stop,
            )

    def _context(self, layer: Layer, mirror: debian.Mirror | None, lines: Lines) -> Iterator[Entry]:
        if layer.recipe is None:
            yield "Dockerfile", GUEST_DOCKERFILE.read_bytes()
            yield from folder_entries(self._images.guest, GUEST_PATH)
            yield from wheels.entries(wheels.fetch(self._images.cache, lines), "lib/")
            return
        yield from folder_entries(layer.recipe.folder)
        if not layer.parent:
            yield from debian.apt_files(mirror)


class _Journal:
    """Where the lines of one layer's build go: its log, and the person who waits."""

    def __init__(self, name: str, file: TextIO, report: Report) -> None:
        self._name = name
        self._file = file
        self._report = report
        self._meter = Meter()
        self._last: list[str] = []

    def line(self, text: str) -> None:
        self._file.write(text + "\n")
        self._last = [*self._last, text][-TAIL_LINES:]
        self._report(Progress(self._name, self._meter.feed(text), text))

    def tail(self) -> str:
        return "\n".join(self._last)
