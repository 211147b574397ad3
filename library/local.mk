# The public headers, and what they need of the core: our programs have it from the archive, all others as a shared library. Installed it is libcoremap.so.0, with its headers, their
# pages and a description for pkg-config.
shared_library_headers = include/coremap/arrays.h include/coremap/check.h include/coremap/chip.h include/coremap/client.h include/coremap/compile.h include/coremap/coremap.h include/coremap/deploy.h \
  include/coremap/error.h include/coremap/fabric.h include/coremap/generate.h include/coremap/map.h include/coremap/network.h include/coremap/options.h include/coremap/partition.h include/coremap/profile.h include/coremap/program.h include/coremap/routes.h include/coremap/run.h include/coremap/schedule.h include/coremap/simulate.h include/coremap/solve.h \
  include/coremap/tables.h include/coremap/train.h
shared_library_sources = library/arrays.c library/calibrate.c library/check.c library/check_again.c library/chip.c library/client.c library/compile.c library/cores.c library/deploy.c library/fabric_calls.c library/fit.c library/generate.c library/hint.c library/job.c library/job_kinds.c library/levels.c library/map.c library/network.c library/network_about.c library/operators.c \
  library/options.c library/options_set.c library/partition.c library/profile.c library/program.c library/quantize.c library/program_inputs.c library/program_source.c library/report.c library/routes.c library/run.c library/schedule.c library/simulate.c library/solve.c library/spikes.c library/stored.c \
  library/tables.c library/tokens.c library/train.c library/training_set.c library/written.c
shared_library_internal = library/arrays.h library/check_again.h library/internal.h library/program_held.h library/program_inputs.h library/training_set.h library/private/base.h library/private/client.h library/private/cores.h library/private/job_kinds.def library/private/job_kinds.h library/private/tokens.h library/private/levels.h library/private/stored.h
libcoremap_a_SOURCES += $(shared_library_sources)
EXTRA_DIST += $(shared_library_headers) $(shared_library_sources) $(shared_library_internal) library/exports.map library/page.awk examples/embed.c examples/graph.c examples/hypergraph.c examples/metrics.c examples/booksim/matrix.cpp
if SHARED_LIBRARY
noinst_DATA = library/libcoremap.so library/pages
library/libcoremap.so: $(shared_library_sources) $(shared_library_internal) library/exports.map $(shared_library_headers) $(CORE_ARCHIVES)
	$(AM_V_GEN)$(MKDIR_P) library && $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) -DCM_VERSION='"$(PACKAGE_VERSION)"' \
	  $(CM_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,-Bsymbolic -Wl,-soname,libcoremap.so.0 $(LDFLAGS) \
	  -Wl,--version-script=$(srcdir)/library/exports.map -o $@ $(shared_library_sources:%=$(srcdir)/%) $(CORE_LIBS) $(CURL_LIBS) $(CM_LDFLAGS) -lm -lpthread
# What names data of other libraries is to stand in a shared library too (Makefile.am).
base/scratch.o core/network/hdf5/h5.o core/network/hdf5/sonata_edges.o core/network/hdf5/nir_read.o \
core/network/hdf5/recognise_hdf5.o: $(srcdir)/library/local.mk
CLEANFILES += library/libcoremap.so
# A page a header, and one for each function that leads there.
man3dir = $(mandir)/man3
shared_library_pages = library/pages
$(shared_library_pages): $(shared_library_headers) library/page.awk
	$(AM_V_GEN)rm -rf library/man && $(MKDIR_P) library/man && for header in $(shared_library_headers); do \
	  name=coremap_`basename $$header .h`; test $$name = coremap_coremap && continue; \
	  $(AWK) -v version=$(PACKAGE_VERSION) -f $(srcdir)/library/page.awk $(srcdir)/$$header > library/man/$$name.3 || exit 1; \
	  for function in `$(SED) -n 's/^[a-z].*[ *]\(coremap_[a-z_]*\)(.*/\1/p' $(srcdir)/$$header`; do \
	    test $$function = $$name || echo ".so man3/$$name.3" > library/man/$$function.3; done; done && touch $@
install-exec-local: install-library

install-library: library/libcoremap.so $(shared_library_pages)
	$(MKDIR_P) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/coremap $(DESTDIR)$(man3dir)
	$(INSTALL_DATA) library/libcoremap.so $(DESTDIR)$(libdir)/libcoremap.so.0
	ln -sf libcoremap.so.0 $(DESTDIR)$(libdir)/libcoremap.so
	$(INSTALL_DATA) $(shared_library_headers:%=$(srcdir)/%) $(DESTDIR)$(includedir)/coremap
	$(INSTALL_DATA) library/man/*.3 $(DESTDIR)$(man3dir)
	printf '%s\n' 'libdir=$(libdir)' 'includedir=$(includedir)' '' 'Name: coremap' 'Description: maps spiking networks on many-core chips' \
	  'Version: $(PACKAGE_VERSION)' 'Libs: -L$${libdir} -lcoremap' 'Cflags: -I$${includedir}' >$(DESTDIR)$(libdir)/pkgconfig/coremap.pc
uninstall-local: uninstall-library
uninstall-library:
	rm -f $(DESTDIR)$(libdir)/libcoremap.so.0 $(DESTDIR)$(libdir)/libcoremap.so $(DESTDIR)$(libdir)/pkgconfig/coremap.pc \
	  $(DESTDIR)$(man3dir)/coremap_*.3
	rm -rf $(DESTDIR)$(includedir)/coremap
clean-local: clean-library

clean-library:
	rm -rf library/man $(shared_library_pages)
endif
