"""The folder that `flamewatch-run` puts on PYTHONPATH; it holds nothing but `sitecustomize`."""
