"""Eyes: what of a frame the model is shown, and how its answer finds back to the desk."""
