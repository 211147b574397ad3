# Pages of commands, completion and the default configuration are made from the tables of the programs just built, those of files
# from docs/.
MADE = man/made
EXTRA_DIST += man/page.awk
FILE_PAGES = network-formats program-formats chip-file topology-file mapping-formats certificate
FILE_DOCS = $(FILE_PAGES:%=$(srcdir)/docs/reference/%.md)
man1dir = $(mandir)/man1
man5dir = $(mandir)/man5
man8dir = $(mandir)/man8
.PHONY: made
made: $(MADE)
$(MADE): coremap$(EXEEXT) coremapd$(EXEEXT) $(FILE_DOCS) $(srcdir)/man/page.awk
	$(AM_V_GEN)rm -rf man/1 man/5 man/8 man/shell && $(MKDIR_P) man/1 man/5 man/8 man/shell && \
	./coremap help --man > man/1/coremap.1 && \
	for command in `$(SED) -n 's/^\\\\fBcoremap\\\\-\\(.*\\)\\\\fR(1)$$/\\1/p' man/1/coremap.1`; do \
	  ./coremap help --man $$command > man/1/coremap-$$command.1 || exit 1; done && \
	./coremapd --print-man > man/8/coremapd.8 && ./coremapd --print-man-config > man/5/coremapd.conf.5 && \
	./coremapd --print-config > man/coremapd.conf && \
	for page in $(FILE_PAGES); do \
	  case $$page in network-formats) about='networks that coremap reads and writes' ;; program-formats) about='networks of simulators, arrays and graph programs' ;; chip-file) about='description of a chip' ;; \
	    topology-file) about='the format of networks with everything in it' ;; mapping-formats) about='what a mapping is written as' ;; \
	    *) about='what is proved of a mapping' ;; esac; \
	  $(AWK) -v name=coremap-$$page -v about="$$about" -v version='$(PACKAGE_VERSION)' -f $(srcdir)/man/page.awk \
	    $(srcdir)/docs/reference/$$page.md > man/5/coremap-$$page.5 || exit 1; done && \
	for shell in bash zsh fish; do ./coremap completion $$shell > man/shell/$$shell || exit 1; done && touch $@
install-data-local: install-made
.PHONY: install-made uninstall-made
# A configuration that is there stays.
install-made: $(MADE)
	$(MKDIR_P) $(DESTDIR)$(man1dir) $(DESTDIR)$(man5dir) $(DESTDIR)$(man8dir) $(DESTDIR)$(sysconfdir)/coremapd \
	  $(DESTDIR)$(datadir)/bash-completion/completions $(DESTDIR)$(datadir)/zsh/site-functions $(DESTDIR)$(datadir)/fish/vendor_completions.d
	$(INSTALL_DATA) man/1/*.1 $(DESTDIR)$(man1dir)
	$(INSTALL_DATA) man/5/*.5 $(DESTDIR)$(man5dir)
	$(INSTALL_DATA) man/8/*.8 $(DESTDIR)$(man8dir)
	$(INSTALL_DATA) man/shell/bash $(DESTDIR)$(datadir)/bash-completion/completions/coremap
	$(INSTALL_DATA) man/shell/zsh $(DESTDIR)$(datadir)/zsh/site-functions/_coremap
	$(INSTALL_DATA) man/shell/fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/coremap.fish
	test -e $(DESTDIR)$(sysconfdir)/coremapd/coremapd.conf || $(INSTALL_DATA) man/coremapd.conf $(DESTDIR)$(sysconfdir)/coremapd/coremapd.conf
uninstall-local: uninstall-made
uninstall-made:
	rm -f $(DESTDIR)$(man1dir)/coremap.1 $(DESTDIR)$(man1dir)/coremap-*.1 $(DESTDIR)$(man5dir)/coremapd.conf.5 \
	  $(FILE_PAGES:%=$(DESTDIR)$(man5dir)/coremap-%.5) $(DESTDIR)$(man8dir)/coremapd.8 \
	  $(DESTDIR)$(datadir)/bash-completion/completions/coremap $(DESTDIR)$(datadir)/zsh/site-functions/_coremap \
	  $(DESTDIR)$(datadir)/fish/vendor_completions.d/coremap.fish
	! cmp -s man/coremapd.conf $(DESTDIR)$(sysconfdir)/coremapd/coremapd.conf || rm -f $(DESTDIR)$(sysconfdir)/coremapd/coremapd.conf
clean-local: clean-made
.PHONY: clean-made
clean-made:
	rm -rf man/1 man/5 man/8 man/shell man/coremapd.conf $(MADE)
