"""A local server of the OpenAI chat completions API: a policy in place of a model, and faults on order."""
