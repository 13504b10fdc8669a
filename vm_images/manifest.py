"""What is really in an image. It goes into every result, so that a score can be traced to versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from practicum.vm_images.errors import BuildFailed
from practicum.vm_images.recipe import Offer

PACKAGES_FILE = "/usr/share/desk/packages.tsv"


@dataclass(frozen=True, slots=True)
class Manifest:
    """`digest` is the recipe's, `id` the engine's; `size` in bytes; versions are Debian's."""

    image: str
    digest: str
    id: str
    size: int
    programs: Mapping[str, str] = field(hash=False)
    packages: Mapping[str, str] = field(hash=False)


def packages_of(listing: str) -> Mapping[str, str]:
    """From the lines `package<TAB>version` of the image's own list."""
    return dict(line.split("\t", 1) for line in listing.splitlines() if "\t" in line)


def programs_of(image: str, offers: Iterable[Offer], packages: Mapping[str, str]) -> Mapping[str, str]:
    """The version of each offered program. Raises `BuildFailed` where it is not the declared one."""
    found = {}
    for offer in offers:
        version = packages.get(offer.package)
        if version is None:
            raise BuildFailed(
                image, "manifest", f"{offer.title} is offered and {offer.package} not installed"
            )
        if not upstream(version).startswith(offer.version):
            raise BuildFailed(
                image, "manifest", f"{offer.title} {offer.version} is offered and {version} installed"
            )
        found[offer.name] = version
    return found


def upstream(version: str) -> str:
    """A Debian version without its epoch and revision."""
    return version.split(":", 1)[-1].rsplit("-", 1)[0]
