"""Who answers the calls of a world: its own code, a model, a model under a ledger, or a record."""
