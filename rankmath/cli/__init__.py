"""What people type: one file a command."""

from __future__ import annotations

import click

from rankmath.cli.app import App
from rankmath.cli.appendix import appendix
from rankmath.cli.bound import bound
from rankmath.cli.campaign import campaign
from rankmath.cli.check import check
from rankmath.cli.cite import cite
from rankmath.cli.completion import completion
from rankmath.cli.counterexample import counterexample
from rankmath.cli.doctor import doctor
from rankmath.cli.experiment import experiment
from rankmath.cli.explore import explore
from rankmath.cli.list import list_
from rankmath.cli.model import model
from rankmath.cli.quantities import quantities
from rankmath.cli.report import report
from rankmath.cli.show import show
from rankmath.cli.trace import trace
from rankmath.cli.verify import verify
from rankmath.version import __version__


@click.group(cls=App, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="rankmath")
def main() -> None:
    """Decides whether a statement about attention and rank collapse is true, and hands over the proof."""


_FIRST = (list_, show, verify, quantities, report, trace, model, experiment, bound, counterexample, check)
for _command in (*_FIRST, cite, appendix, campaign, explore, doctor, completion):
    main.add_command(_command)
