"""Brains: models behind `agents.agent.Model`."""
