"""The site: `sphinx-build -W -n -b html docs site`. Gallery and reference pages are written at build time."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from rankmath.version import __version__

project = "rankmath"
author = copyright = "The rankmath authors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathml",
    "typeset",
    "plain_docstrings",
    "python_names",
    "generated",
    "keys",
]
exclude_patterns = ["_ext", "examples", "notebooks/*.ipynb"]

# What a command prints is no shell; colours are all that is lost.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"rankmath {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
toc_object_entries = False
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_use_type_comments = False
python_use_unqualified_type_names = True
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
# What stands after the colon of a parameter is prose, not a type.
napoleon_use_param = napoleon_use_rtype = False

nitpicky = True
# Types of other libraries, and the letters of our own generic code, have no page here; every name of rankmath must.
nitpick_ignore_regex = [(r"py:.*", r"(?!rankmath\b).*"), (r"py:class", r"rankmath\..*\.T")]
