"""Shared settings: deterministic hypothesis, slow tests only on request."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# Derandomised: a red run is red for everybody, and again tomorrow.
settings.register_profile("rankmath", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rankmath")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --run-slow"))
