"""Decides one claim: batteries of instances, the adversary who looks for a counterexample, the shrinker."""
