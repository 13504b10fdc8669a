"""Windows machines, installed unattended from media that the user supplies."""
