"""Shared settings: deterministic hypothesis, slow tests only on request, long ones first."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# Derandomised: a red run is red for everybody, and again tomorrow.
settings.register_profile("rankmath", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rankmath")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="also run the tests marked slow")


#: Rooms whose single tests take a minute or two: begun first, they leave no processor idle at the end.
LONG = ("tests/coq/", "tests/docs/")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
    if config.getoption("--run-slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --run-slow"))
