# The Python package; it finds the library (library/local.mk) where others are, or beside its own files.
if SHARED_LIBRARY
if ONNX
if HDF5
TESTS += tests/python/package
endif
endif
endif
dist_check_SCRIPTS += tests/python/package
EXTRA_DIST += python/coremap/__init__.py python/coremap/_deploy.py python/coremap/_jobs.py python/coremap/_local.py \
  python/coremap/_fabric.py python/coremap/_network.py python/coremap/_partition.py python/coremap/_profile.py python/coremap/_server.py python/coremap/_sweep.py python/coremap/py.typed python/pyproject.toml python/examples/first.ipynb python/coremap_spinnaker/__init__.py python/coremap_spinnaker/_front_end.py python/coremap_spinnaker/_graph.py \
  python/coremap_spinnaker/_start.py tests/python/package.py tests/python/library.c tests/python/library_made.c tests/python/library_arrays.c
