"""The experiments of the papers, each one function and one command, without a framework."""
