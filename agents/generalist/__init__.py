"""The generalist: Brain, Eyes, Hands, Body and Feet, each chosen in an agent file and swappable alone."""
