"""Every eager op passes TFE_Execute: counted by a function of that name that stands before it."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.pythons import ROOT, finished

COMPILER = shutil.which("cc")
BEFORE_IT = """
#define _GNU_SOURCE
#include <dlfcn.h>
typedef void (*execute)(void *, void **, int *, void *);
static int calls;
int calls_so_far(void) { return calls; }
void TFE_Execute(void *op, void **results, int *count, void *status) {
  void *library = dlopen("libtensorflow_cc.so.2", RTLD_NOLOAD | RTLD_LAZY);
  calls++;
  ((execute)dlsym(library, "TFE_Execute"))(op, results, count, status);
}
"""
CASES = """
import ctypes, json
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.ops import gen_math_ops
so_far = ctypes.CDLL(None).calls_so_far
a, v = tf.ones([2, 2]), tf.Variable(1.0)
function = tf.function(lambda x: tf.sin(x) @ x, autograph=False)
three = tf.constant([[1.0], [1.0], [1.0]])
cases = {
    "fast path": lambda: tf.matmul(a, a),
    "fallback": lambda: gen_math_ops.neg_eager_fallback(a, None, context.context()),
    "function": lambda: function(a),
    "variable": lambda: v.assign_add(1.0),
    "refused": lambda: tf.matmul(a, three),
    "nothing": lambda: a.numpy(),
}
counts = {}
for name, case in cases.items():
    for _ in range(2):  # the first time fills caches
        before = so_far()
        try:
            case()
        except tf.errors.InvalidArgumentError:
            pass
    counts[name] = so_far() - before
print(json.dumps(counts))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and the name of the library")
@pytest.mark.skipif(not COMPILER, reason="needs a C compiler")
def test_every_eager_op_passes_one_c_function(tmp_path):
    pytest.importorskip("tensorflow")
    source, library = tmp_path / "before_it.c", tmp_path / "before_it.so"
    source.write_text(BEFORE_IT)
    subprocess.run([COMPILER, "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    env = {**os.environ, "LD_PRELOAD": str(library), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = finished([sys.executable, "-c", CASES], env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts.pop("nothing") == 0 and set(counts.values()) == {1}
