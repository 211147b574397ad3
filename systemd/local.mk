# Units of systemd, with the paths of this installation. --without-systemd leaves them out.
systemd_UNITS = systemd/coremapd.service systemd/coremapd.socket systemd/coremapd-backup.service systemd/coremapd-backup.timer systemd/coremapd-slurm-bridge.service
systemd_FILES = $(systemd_UNITS) systemd/coremapd.tmpfiles
EXTRA_DIST += $(systemd_FILES:%=%.in) systemd/coremapd.sysusers
CLEANFILES += $(systemd_FILES)
$(systemd_FILES): %: %.in Makefile
	$(AM_V_GEN)$(MKDIR_P) systemd && $(SED) -e 's#[@]bindir[@]#$(bindir)#g; s#[@]sysconfdir[@]#$(sysconfdir)#g; s#[@]docdir[@]#$(docdir)#g' $< > $@.new && mv $@.new $@
# For Prometheus and Grafana: docs/how-to/metrics.md.
monitoringdir = $(pkgdatadir)/monitoring
dist_monitoring_DATA = monitoring/alerts.yml monitoring/grafana-dashboard.json
if SYSTEMD
all-local: $(systemd_FILES)
install-data-local: install-systemd
.PHONY: install-systemd
install-systemd: $(systemd_FILES)
	$(MKDIR_P) $(DESTDIR)$(systemdunitdir) $(DESTDIR)$(sysusersdir) $(DESTDIR)$(tmpfilesdir)
	$(INSTALL_DATA) $(systemd_UNITS) $(DESTDIR)$(systemdunitdir)
	$(INSTALL_DATA) $(srcdir)/systemd/coremapd.sysusers $(DESTDIR)$(sysusersdir)/coremapd.conf
	$(INSTALL_DATA) systemd/coremapd.tmpfiles $(DESTDIR)$(tmpfilesdir)/coremapd.conf
uninstall-local: uninstall-systemd
.PHONY: uninstall-systemd
uninstall-systemd:
	rm -f $(systemd_UNITS:systemd/%=$(DESTDIR)$(systemdunitdir)/%) \
	  $(DESTDIR)$(sysusersdir)/coremapd.conf $(DESTDIR)$(tmpfilesdir)/coremapd.conf
endif
