#!/bin/sh
# What `make up` needs and cannot bring itself; what is missing is one sentence with its cure.
python=$1
missing() { echo "$1 is missing: apt-get install $2" >&2; exit 1; }

command -v "$python" >/dev/null || missing "Python 3.11 or newer" python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "Python 3.11 or newer is needed; $python is $("$python" -V 2>&1)." >&2; exit 1; }
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing "Python's venv" python3-venv
"$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
    missing "Python's headers (Python.h)" python3-dev
command -v cc >/dev/null || command -v gcc >/dev/null || missing "A C compiler" "gcc libc6-dev"
