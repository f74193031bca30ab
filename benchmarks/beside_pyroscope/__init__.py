"""Parts of benchmarks.uploads_beside_pyroscope."""
