"""What a network is: layers, sampling, files."""
