"""Every command of CLAIMS.md exists and parses, also those that the tests do not run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from executed import blocks, commands

from rankmath.cli import main

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "CLAIMS.md"
COMMANDS = [command for block in blocks(CLAIMS) if block.language == "console" for command, _ in commands(block)]


def parses(words: list[str]) -> None:
    """`rankmath …` down to its options, without running it."""
    command: click.Command = main
    while isinstance(command, click.Group):
        name, *words = words
        assert name in command.commands, name
        command = command.commands[name]
    command.make_context("rankmath", words)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_claims_exists_and_parses(command: str) -> None:
    first = re.split(r"[;|>]|&&|  #", command)[0].strip()
    program, *words = shlex.split(first)
    if program == "rankmath":
        parses(words)
    elif program == "python":
        path = words[2] if words[:2] == ["-m", "pytest"] else words[0]
        assert (ROOT / path).exists()
    else:
        assert program in ("cp", "cmp", "ls")


def test_every_page_of_claims_is_named_and_every_name_is_a_page() -> None:
    named = set(re.findall(r"\]\((docs/[\w.-]+\.md)\)", CLAIMS.read_text(encoding="utf-8")))
    assert {
        "docs/findings.md",
        "docs/masks.md",
        "docs/certificates.md",
        "docs/centring.md",
        "docs/campaigns.md",
        "docs/performance.md",
        "docs/background.md",
        "docs/equilibria.md",
    } <= named
    for name in named:
        assert (ROOT / name).is_file()
