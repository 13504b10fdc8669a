"""Desks that are virtual machines of QEMU."""

from practicum.infra.desk.vm.provider import VmDesks

__all__ = ["VmDesks"]
