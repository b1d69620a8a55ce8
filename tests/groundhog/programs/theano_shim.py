"""Lets GroundHog's `import theano` find Aesara, Theano's successor, and restores the names that it no longer has."""

import importlib
import sys
import types

import aesara
import aesara.compile.sharedvalue
import aesara.ifelse
import aesara.tensor as tensor
from aesara.graph.basic import Constant, Variable, clone_replace, graph_inputs
from aesara.tensor.math import sigmoid, softplus
from aesara.tensor.special import softmax
from aesara.tensor.var import TensorVariable


def add_module(name, **members):
    """Make a module importable under a name of Theano's."""
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module
    return module


# modules that only have another name
sys.modules["theano"] = aesara
sys.modules["theano.tensor"] = tensor
sys.modules["theano.ifelse"] = aesara.ifelse
add_module("theano.sandbox")
random_streams = importlib.import_module("aesara.sandbox.rng_mrg")
random_streams.MRG_RandomStreams = random_streams.MRG_RandomStream
sys.modules["theano.sandbox.rng_mrg"] = random_streams

# functions and classes that have moved
tensor.nnet = add_module(
    "theano.tensor.nnet", sigmoid=sigmoid, softplus=softplus, softmax=lambda x: softmax(x, axis=-1)
)
tensor.TensorVariable = TensorVariable
tensor.Constant = Constant
graph = types.SimpleNamespace(inputs=lambda variables: list(graph_inputs(variables)))
aesara.gof = add_module("theano.gof", Variable=Variable, graph=graph)
aesara.clone = lambda variables, replace: clone_replace(variables, replace=list(replace))
aesara.compile.SharedVariable = aesara.compile.sharedvalue.SharedVariable


def find_constant_sizes(shape):
    """Return the sizes of a shape as variables, and as numbers where they are constants.

    Aesara's own function simplifies the graph of each size first. For GroundHog's graphs this takes minutes.
    """
    sizes = [tensor.as_tensor_variable(size, ndim=0) for size in shape]
    return sizes, tuple(size.data.item() if isinstance(size, Constant) else None for size in sizes)


tensor.basic.infer_static_shape = find_constant_sizes
