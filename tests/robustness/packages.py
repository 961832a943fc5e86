"""Public packages that the course has never looked into -> three calls of each: `CALLS`.

A call is a function as its own package writes it, and arguments for it. `TENSORS` are calls of
torch and Keras that take tensors; they are made when asked for, since they import a framework.
"""

import attr
import bs4
import jinja2
import jsonschema
import matplotlib.cbook
import matplotlib.colors
import matplotlib.path
import mistune
import nbformat
import networkx
import numpy as np
import packaging.requirements
import packaging.utils
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
    "numpy.add": (np.add, 1, 2),
    "networkx.shortest_path": (networkx.shortest_path, PATH, 0, 3),
    "networkx.degree_centrality": (networkx.degree_centrality, PATH),
    "networkx.bfs_edges": (networkx.bfs_edges, PATH, 0),
    "jinja2.Template": (jinja2.Template, "hello {{ name }}"),
    "jinja2.render": (PAGE.render, {"xs": "ab"}),
    "jinja2.compile": (jinja2.Environment().compile, "{{ a }}"),
    "packaging.parse": (packaging.version.parse, "1.2.3"),
    "packaging.canonicalize_name": (packaging.utils.canonicalize_name, "A_b"),
    "packaging.Requirement": (packaging.requirements.Requirement, "a>=1; os_name == 'posix'"),
    "tabulate.tabulate": (tabulate.tabulate, [[1, 2], [3, 4]]),
    "tabulate.simple_separated_format": (tabulate.simple_separated_format, ","),
    "tabulate._type": (tabulate._type, "3.5"),
    "psutil.virtual_memory": (psutil.virtual_memory,),
    "psutil.pid_exists": (psutil.pid_exists, 1),
    "psutil.Process": (psutil.Process,),
    "nbformat.new_notebook": (nbformat.v4.new_notebook,),
    "nbformat.validate": (nbformat.validate, BOOK),
    "nbformat.writes": (nbformat.writes, BOOK),
    "matplotlib.to_rgba": (matplotlib.colors.to_rgba, "red"),
    "matplotlib.flatten": (matplotlib.cbook.flatten, [1, [2]]),
    "matplotlib.arc": (matplotlib.path.Path.arc, 0, 90),
    "pygments.highlight": (pygments.highlight, "f(x)", LEXER, PLAIN),
    "pygments.get_lexer_by_name": (pygments.lexers.get_lexer_by_name, "python"),
    "pygments.format": (pygments.format, [], PLAIN),
    "yaml.safe_load": (yaml.safe_load, "a: [1, 2]"),
    "yaml.safe_dump": (yaml.safe_dump, {"a": 1}),
    "yaml.scan": (yaml.scan, "a: 1"),
    "mistune.html": (mistune.html, "# a"),
    "mistune.escape": (mistune.escape, "<a>"),
    "mistune.safe_entity": (mistune.safe_entity, "<a>"),
    "bs4.BeautifulSoup": (bs4.BeautifulSoup, "<p>a", "html.parser"),
    "bs4.prettify": (bs4.BeautifulSoup("<p>a", "html.parser").prettify,),
    "bs4.find": (bs4.BeautifulSoup("<p>a", "html.parser").find, "p"),
    "jsonschema.validate": (jsonschema.validate, 1, {"type": "integer"}),
    "jsonschema.iter_errors": (jsonschema.Draft202012Validator({"type": "null"}).iter_errors, 1),
    "jsonschema.is_valid": (jsonschema.Draft202012Validator({"type": "null"}).is_valid, 1),
    "attr.make_class": (attr.make_class, "C", ["x"]),
    "attr.asdict": (attr.asdict, attr.make_class("C", ["x"])(1)),
    "attr.fields": (attr.fields, attr.make_class("C", ["x"])),
}


def tensors() -> dict:
    """Return calls of torch's and Keras's own functions; Keras runs on TensorFlow."""
    import torch
    from torch.nn import functional

    x = torch.ones(2, 4)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    return {
        "torch.Linear": (torch.nn.Linear(4, 3), x),
        "torch.layer_norm": (functional.layer_norm, x, (4,)),
        "torch.TransformerEncoderLayer": (layer, torch.ones(1, 2, 4)),
        "torch.einsum": (torch.einsum, "ij->ji", x),
        "torch.Bilinear": (torch.nn.Bilinear(4, 4, 2), x, x),
    }


def keras_calls() -> dict:
    """Return calls of Keras's own functions on TensorFlow's tensors."""
    import keras
    import tensorflow as tf

    x = tf.ones((2, 4))
    return {
        "keras.softmax": (keras.ops.softmax, x),
        "keras.Dense": (keras.layers.Dense(3), x),
        "keras.mean_squared_error": (keras.losses.mean_squared_error, x, x),
        "keras.image_flip": (tf.image.flip_left_right, tf.ones((1, 2, 2, 3))),
    }
