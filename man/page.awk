# A page of docs/ as a manual page: awk -v name=NAME -v about="what it is" -v version=V -f man/page.awk PAGE.md
# Knows what these pages use: headings, paragraphs, lists, tables, code, bold, links.

function escape(s) {
  gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s)
  return s
}
# Code, bold and links of a line; links become their text.
function inline(s,    out, i, text) {
  while (match(s, /\[[^][]*\]\([^()]*\)/)) {
    text = substr(s, RSTART + 1, index(substr(s, RSTART), "](") - 2)
    s = substr(s, 1, RSTART - 1) text substr(s, RSTART + RLENGTH)
  }
  out = ""
  while ((i = match(s, /`[^`]*`|\*\*[^*]*\*\*/)) > 0) {
    text = substr(s, RSTART, RLENGTH)
    out = out escape(substr(s, 1, RSTART - 1))
    s = substr(s, RSTART + RLENGTH)
    out = out "\\fB" escape(text ~ /^`/ ? substr(text, 2, length(text) - 2) : substr(text, 3, length(text) - 4)) "\\fR"
  }
  return out escape(s)
}
function put(s) { print (s ~ /^[.']/ ? "\\&" : "") s }
function cells(s,    n, i) { # into cell[1..n]; bars in code stand behind a backslash
  sub(/^ *\| */, "", s); sub(/ *\| *$/, "", s)
  gsub(/\\\|/, "\001", s)
  n = split(s, cell, / *\| */)
  for (i = 1; i <= n; i++) gsub(/\001/, "|", cell[i])
  return n
}
function heading(s) { print ".SH \"" toupper(s) "\"" }

BEGIN { title = toupper(name) }
/^```/ { code = !code; print code ? ".PP\n.nf\n.RS 4" : ".RE\n.fi"; next }
code { put(escape($0)); next }
/^<!--/ { next } # around tables that scripts/docs prints
/^# / && !begun {
  begun = 1
  print ".\\\" Made from a page of docs/.\n.TH \"" escape(title) "\" 5 \"\" \"coremapd " version "\" coremapd\n.nh\n.ad l"
  print ".SH NAME\n" escape(name) " \\- " escape(about) "\n.SH DESCRIPTION"
  next
}
/^## / { s = substr($0, 4); gsub(/`/, "", s); gsub(/"/, "", s); heading(escape(s)); table = 0; next }
/^###+ / { s = $0; sub(/^#+ /, "", s); gsub(/`/, "", s); gsub(/"/, "", s); print ".SS \"" escape(s) "\""; table = 0; next }
/^\|[ -]*-[-| :]*\|$/ { next }
/^\|/ {
  n = cells($0)
  if (!table) { # its first line names the columns
    table = n
    for (i = 1; i <= n; i++) column[i] = cell[i]
    next
  }
  print ".TP"; put(inline(cell[1]) != "" ? inline(cell[1]) : "\\&")
  line = ""
  for (i = 2; i <= n; i++)
    if (cell[i] != "")
      line = line (line != "" ? "\n.br\n" : "") (table > 2 && column[i] != "" ? escape(column[i]) ": " : "") inline(cell[i])
  if (line != "") put(line)
  next
}
{ if (table) print ".PP"; table = 0 }
/^ *$/ { print ".PP"; next }
/^ *[-*] / { s = $0; sub(/^ *[-*] /, "", s); print ".IP \\(bu 2"; put(inline(s)); next }
/^ *[0-9]+\. / { match($0, /[0-9]+/); s = $0; sub(/^ *[0-9]+\. /, "", s); print ".IP " substr($0, RSTART, RLENGTH) ". 4"; put(inline(s)); next }
{ s = $0; sub(/^ +/, "", s); put(inline(s)) }
END { print ".SH \"SEE ALSO\"\n.BR coremap (1),\n.BR coremapd (8)" }
