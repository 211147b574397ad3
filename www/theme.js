// Before the first paint, so that a chosen theme does not flash: everything else about it is in app.js.
try {
  const theme = localStorage.getItem('coremapd-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: the system's choice holds.
}
