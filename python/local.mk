# The shared library: the C interface, and what it needs of the core. Installed it is libcoremap.so.0, with a header and a
# description for pkg-config; the Python package finds it there, or beside its own files as libcoremap-python.so.
if SHARED_LIBRARY
noinst_DATA = python/libcoremap-python.so
python/libcoremap-python.so: python/interface.c python/interface.h python/interface.map $(CORE_ARCHIVES)
	$(AM_V_GEN)$(MKDIR_P) python && $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) -DCM_VERSION='"$(PACKAGE_VERSION)"' $(CM_CFLAGS) $(CFLAGS) -fPIC \
	  -shared -Wl,-Bsymbolic -Wl,-soname,libcoremap.so.0 $(LDFLAGS) -Wl,--version-script=$(srcdir)/python/interface.map -o $@ \
	  $(srcdir)/python/interface.c $(CORE_LIBS) $(CM_LDFLAGS) -lm -lpthread
TESTS += tests/python/package
install-exec-local: install-library
.PHONY: install-library uninstall-library
install-library: python/libcoremap-python.so
	$(MKDIR_P) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)
	$(INSTALL_DATA) python/libcoremap-python.so $(DESTDIR)$(libdir)/libcoremap.so.0
	ln -sf libcoremap.so.0 $(DESTDIR)$(libdir)/libcoremap.so
	$(INSTALL_DATA) $(srcdir)/python/interface.h $(DESTDIR)$(includedir)/coremap.h
	printf '%s\n' 'libdir=$(libdir)' 'includedir=$(includedir)' '' 'Name: coremap' 'Description: maps spiking networks on many-core chips' \
	  'Version: $(PACKAGE_VERSION)' 'Libs: -L$${libdir} -lcoremap' 'Cflags: -I$${includedir}' >$(DESTDIR)$(libdir)/pkgconfig/coremap.pc
uninstall-local: uninstall-library
uninstall-library:
	rm -f $(DESTDIR)$(libdir)/libcoremap.so.0 $(DESTDIR)$(libdir)/libcoremap.so $(DESTDIR)$(includedir)/coremap.h \
	  $(DESTDIR)$(libdir)/pkgconfig/coremap.pc
endif
# These are compiled for a shared library as well (Makefile.am).
core/base/scratch.o core/network/hdf5/h5.o core/network/hdf5/import_sonata.o core/network/hdf5/nir_read.o \
core/network/hdf5/recognise_hdf5.o: $(srcdir)/python/local.mk
CLEANFILES += python/libcoremap-python.so
dist_check_SCRIPTS += tests/python/package
EXTRA_DIST += python/interface.c python/interface.h python/interface.map python/coremap/__init__.py python/coremap/_local.py \
  python/coremap/_server.py python/coremap/py.typed python/pyproject.toml python/examples/first.ipynb tests/python/package.py
