import subprocess
import sys

SLOW = ("litellm", "onnxruntime", "onnx", "sentencepiece", "openai")

IMPORT_ALL = f"""
import importlib, pkgutil, sys
import rag_app.providers
for module in pkgutil.iter_modules(rag_app.providers.__path__, "rag_app.providers."):
    importlib.import_module(module.name)
print(sorted(set({SLOW}) & set(sys.modules)))
"""


def test_importing_every_provider_loads_none_of_the_slow_libraries():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
