"""The adversary, who looks for instances that break a claim, and the shrinker, who makes them small."""
