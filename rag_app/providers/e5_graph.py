"""Builds the network of multilingual-e5-small as an ONNX graph and makes it small."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_app.providers.e5_pack import Pack

if TYPE_CHECKING:
    import onnx

_OPSET = 17
_MICROSOFT = "com.microsoft"
_FFN_DOWN = "fo.w"
"""How the names of the weights end that lead from the wide inner layer back down."""


def build_graph(pack: Pack) -> "onnx.ModelProto":
    """Return the encoder in 32-bit floats.

    Inputs: `x`, the summed word, position and type rows `(batch, length, hidden)`, and `bias`,
    added to the attention `(batch, 1, 1, length)`. Output: `y`, a row for each token. The rows are
    looked up outside, so that the large word table stays on disk.
    """
    from onnx import TensorProto, helper

    hidden = pack.shape.hidden
    build = _Builder(pack)
    x = build.layer_norm("x", "emb.ln")
    for layer in range(pack.shape.layers):
        x = build.layer(x, f"l{layer}.")
    build.nodes.append(helper.make_node("Identity", [x], ["y"]))
    graph = helper.make_graph(
        build.nodes,
        "e5",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length", hidden]),
            helper.make_tensor_value_info("bias", TensorProto.FLOAT, ["batch", 1, 1, "length"]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "length", hidden])],
        build.weights,
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)],
        ir_version=9,
    )


def write_quantised(model: "onnx.ModelProto", source: Path, target: Path) -> None:
    """Write `model` to `source` as it is and to `target` with 8-bit weights.

    What enters the FFN-down layers has outliers that 8 bits cannot hold: they stay as they are,
    which costs 20 MB and gives back 2 points of recall in German and Arabic. The others use 7 of
    the 8 bits: with all 8 the sums overflow on processors without VNNI (cosine to the floats down
    to 0.995 instead of 0.9985), and vectors would differ from one machine to the next.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    onnx.save(model, str(source))
    kept = [
        node.name
        for node in model.graph.node
        if node.op_type == "MatMul" and node.input[1].endswith(_FFN_DOWN)
    ]
    quantize_dynamic(
        str(source),
        str(target),
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=True,
        nodes_to_exclude=kept,
        extra_options={"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT},
    )


class _Builder:
    """Gathers the nodes and weights of a graph under construction."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        shape = pack.shape
        size = shape.hidden // shape.heads
        # 0 copies the length of that axis from the input
        self._heads = self.weight("heads", np.array([0, 0, shape.heads, size], np.int64))
        self._joined = self.weight("joined", np.array([0, 0, shape.hidden], np.int64))
        self._scale = self.weight("scale", np.array(1 / np.sqrt(size), np.float32))

    def weight(self, name: str, array: np.ndarray) -> str:
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(operator, list(inputs), [name], name=name, domain=domain, **attributes)
        )
        return name

    def layer_norm(self, x: str, name: str) -> str:
        weight = self.weight(f"{name}.w", self.pack.tensor(f"{name}.w"))
        bias = self.weight(f"{name}.b", self.pack.tensor(f"{name}.b"))
        epsilon = self.pack.shape.epsilon
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)

    def linear(self, x: str, name: str) -> str:
        bias = self.pack.tensor(f"{name}.b")
        matrix = self.pack.tensor(f"{name}.w").reshape(bias.size, -1).T
        product = self.node("MatMul", x, self.weight(f"{name}.w", matrix))
        return self.node("Add", product, self.weight(f"{name}.b", bias))

    def split_heads(self, x: str, order: list[int]) -> str:
        return self.node("Transpose", self.node("Reshape", x, self._heads), perm=order)

    def layer(self, x: str, prefix: str) -> str:
        """Self-attention and feed-forward, each added to its input and normalised after."""
        query = self.split_heads(self.linear(x, prefix + "q"), [0, 2, 1, 3])
        key = self.split_heads(self.linear(x, prefix + "k"), [0, 2, 3, 1])
        value = self.split_heads(self.linear(x, prefix + "v"), [0, 2, 1, 3])
        scores = self.node("Mul", self.node("MatMul", query, key), self._scale)
        attention = self.node("Softmax", self.node("Add", scores, "bias"), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", attention, value), perm=[0, 2, 1, 3])
        joined = self.node("Reshape", mixed, self._joined)
        x = self.layer_norm(self.node("Add", x, self.linear(joined, prefix + "ao")), prefix + "aln")
        inner = self.node("Gelu", self.linear(x, prefix + "fi"), domain=_MICROSOFT)
        return self.layer_norm(
            self.node("Add", x, self.linear(inner, prefix + "fo")), prefix + "oln"
        )
