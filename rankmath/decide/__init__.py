"""Decides one claim: batteries of instances, adversary, shrinker, prover; campaigns of many instances."""
