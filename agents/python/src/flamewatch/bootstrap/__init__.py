"""Folder that `flamewatch-run` adds to PYTHONPATH; it contains only `sitecustomize`."""
