"""Public packages that the course has never looked into -> calls of each: `CALLS`.

A call is a function as its own package writes it, and arguments for it. `TENSORS` are calls of
torch that take tensors; they are made when asked for, since they import a framework.
"""

import attr
import bs4
import jinja2
import jsonschema
import matplotlib.colors
import matplotlib.path
import mistune
import nbformat
import networkx
import numpy as np
import packaging.requirements
import packaging.version
import psutil
import pygments
import pygments.formatters
import pygments.lexers
import tabulate
import yaml

PATH = networkx.path_graph(4)
PAGE = jinja2.Environment().from_string("{% for x in xs %}{{ x }}, {% endfor %}")
BOOK = nbformat.v4.new_notebook()
LEXER, PLAIN = pygments.lexers.get_lexer_by_name("python"), pygments.formatters.NullFormatter()
CALLS = {
    "numpy.pad": (np.pad, [1, 2], 1),
    "numpy.median": (np.median, [3, 1, 2]),
    "networkx.shortest_path": (networkx.shortest_path, PATH, 0, 3),
    "networkx.degree_centrality": (networkx.degree_centrality, PATH),
    "jinja2.Template": (jinja2.Template, "hello {{ name }}"),
    "jinja2.render": (PAGE.render, {"xs": "ab"}),
    "packaging.parse": (packaging.version.parse, "1.2.3"),
    "packaging.Requirement": (packaging.requirements.Requirement, "a>=1; os_name == 'posix'"),
    "tabulate.tabulate": (tabulate.tabulate, [[1, 2], [3, 4]]),
    "psutil.virtual_memory": (psutil.virtual_memory,),
    "nbformat.validate": (nbformat.validate, BOOK),
    "matplotlib.to_rgba": (matplotlib.colors.to_rgba, "red"),
    "matplotlib.arc": (matplotlib.path.Path.arc, 0, 90),
    "pygments.highlight": (pygments.highlight, "f(x)", LEXER, PLAIN),
    "yaml.safe_load": (yaml.safe_load, "a: [1, 2]"),
    "yaml.safe_dump": (yaml.safe_dump, {"a": 1}),
    "mistune.html": (mistune.html, "# a"),
    "bs4.BeautifulSoup": (bs4.BeautifulSoup, "<p>a", "html.parser"),
    "bs4.find": (bs4.BeautifulSoup("<p>a", "html.parser").find, "p"),
    "jsonschema.iter_errors": (jsonschema.Draft202012Validator({"type": "null"}).iter_errors, 1),
    "jsonschema.is_valid": (jsonschema.Draft202012Validator({"type": "null"}).is_valid, 1),
    "attr.make_class": (attr.make_class, "C", ["x"]),
}


def tensors() -> dict:
    """Return calls of torch's own functions."""
    import torch

    x = torch.ones(2, 4)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    return {
        "torch.Linear": (torch.nn.Linear(4, 3), x),
        "torch.TransformerEncoderLayer": (layer, torch.ones(1, 2, 4)),
        "torch.einsum": (torch.einsum, "ij->ji", x),
    }
