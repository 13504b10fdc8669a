"""Desks that are existing machines, reached over SSH."""

from practicum.infra.desk.ssh.provider import SshDesks

__all__ = ["SshDesks"]
