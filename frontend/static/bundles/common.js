/**
 * The modules that several pages need, once static files are collected: profiler_site/static_files/bundles.py.
 *
 * Pages load it first, because a browser finds out only from their own scripts that they need it.
 */
