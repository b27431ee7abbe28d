"""A page to play with: tokens on a circle or sphere, layer by layer, in a browser."""
