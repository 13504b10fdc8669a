"""Hands: the dialect in which a model family speaks of actions, read into canonical tool calls."""
