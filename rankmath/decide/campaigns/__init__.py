"""Many instances: local processes or a Dask cluster, and a ledger that survives a crash."""
