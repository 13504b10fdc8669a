"""Estimators, intervals and comparisons. Nothing in here knows where its numbers come from."""
