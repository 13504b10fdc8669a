"""What an image is made of."""
