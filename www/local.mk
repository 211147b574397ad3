# The viewer: static files as they are, nothing is built.
wwwdir = $(pkgdatadir)/www
dist_www_DATA = \
  www/account.js www/actions.js www/admin.js www/adminusers.js www/api.js www/app.js www/binary.js www/chip.js www/choices.js \
  www/colour.js www/compare.js www/copyas.js www/corepanel.js www/create.js www/deploy.js www/dom.js www/fits.js www/flows.js www/chipplan.js \
  www/format.js www/heatdraw.js www/heatmap.js www/icon.svg www/index.html www/job.js www/jobfields.js www/jobform.js www/jobparts.js \
  www/layers.js www/listcolumns.js www/lists.js www/mapping.js www/matrix.js www/me.js www/metrics.js www/model.js www/network.js www/nodes.js www/operatorgraph.js \
  www/panel.js www/phases.js www/picture.js www/pins.js www/plots.js www/problem.js www/problemnode.js www/program.js www/programreport.js \
  www/progressplot.js www/prometheus.js www/reading.js www/running.js www/simulation.js www/simulationmap.js www/style.css www/surface.js www/sweep.js www/table.js \
  www/tables.js www/tabs.js www/theme.js www/timeline.js www/timelinelanes.js www/timelinesection.js www/trace.js www/upload.js www/view.js www/visibility.js \
  www/ways.js
