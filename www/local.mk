# The viewer: static files as they are, nothing is built.
wwwdir = $(pkgdatadir)/www
dist_www_DATA = \
  www/index.html www/admin.js www/listtable.js www/me.js www/prometheus.js www/style.css www/icon.svg www/theme.js www/account.js www/app.js www/api.js www/binary.js www/choices.js www/colour.js \
  www/compare.js www/corepanel.js www/create.js www/dom.js www/format.js www/heatmap.js www/job.js www/jobform.js \
  www/jobparts.js www/jobs.js www/layers.js www/mapping.js www/metrics.js www/model.js www/picture.js \
  www/problem.js www/problemnode.js www/program.js www/programreport.js www/reading.js www/simulation.js www/tables.js www/timeline.js www/trace.js \
  www/upload.js www/visibility.js www/view.js www/ways.js
