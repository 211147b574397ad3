# The viewer: static files as they are, nothing is built.
wwwdir = $(pkgdatadir)/www
dist_www_DATA = \
  www/actions.js www/admin.js www/api.js www/app.js www/chip.js www/chiplimits.js www/chipplan.js www/colour.js www/deploy.js www/dom.js \
  www/fits.js www/flows.js www/format.js www/heatdraw.js www/heatmap.js www/icon.svg www/index.html www/job.js www/jobform.js \
  www/layers.js www/lists.js www/mapping.js www/me.js www/model.js www/network.js \
  www/operatorgraph.js www/panel.js www/picture.js www/plotfile.js www/plots.js www/problem.js www/program.js www/report.js www/schedule.js www/simulation.js www/style.css www/surface.js \
  www/svgcontext.js www/sweep.js www/table.js www/tables.js www/theme.js www/tiles.js www/timeline.js www/trace.js www/upload.js \
  www/view.js
