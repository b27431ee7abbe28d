"""What a layer and a quantity mean, as text that every reader reads: the library, the checker, the printers."""
