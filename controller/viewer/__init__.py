"""A local web page on runs: what the agent saw, what it did, what it cost, and why it passed or failed."""
