# The shared library of the Python package: the C interface, and what it needs of the core.
if SHARED_LIBRARY
noinst_DATA = python/libcoremap-python.so
python/libcoremap-python.so: python/interface.c python/interface.h python/interface.map $(CORE_ARCHIVES)
	$(AM_V_GEN)$(MKDIR_P) python && $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) -DCM_VERSION='"$(PACKAGE_VERSION)"' $(CM_CFLAGS) $(CFLAGS) -fPIC \
	  -shared -Wl,-Bsymbolic -Wl,--version-script=$(srcdir)/python/interface.map -o $@ $(srcdir)/python/interface.c $(CORE_LIBS) $(CM_LDFLAGS) -lm -lpthread
TESTS += tests/python/package
endif
# These are compiled for a shared library as well (Makefile.am).
core/base/scratch.o core/network/hdf5/h5.o core/network/hdf5/import_sonata.o core/network/hdf5/nir_read.o \
core/network/hdf5/recognise_hdf5.o: $(srcdir)/python/local.mk
CLEANFILES += python/libcoremap-python.so
dist_check_SCRIPTS += tests/python/package
EXTRA_DIST += python/interface.c python/interface.h python/interface.map python/coremap/__init__.py python/coremap/_local.py \
  python/coremap/_server.py python/coremap/py.typed python/pyproject.toml python/examples/first.ipynb tests/python/package.py
