"""Desks in containers of the Docker engine."""

from practicum.infra.desk.container.provider import ContainerDesks

__all__ = ["ContainerDesks"]
