# A page of the manual (section 3) from a header of the library: awk -v version=V -f page.awk include/coremap/NAME.h
#
# The comment at the top gives name and description; every other comment belongs to the declarations below it.
function escaped(line) {
  gsub(/\\/, "\\e", line)
  gsub(/-/, "\\-", line)
  return line ~ /^[.']/ ? "\\\\&" line : line
}
function comment_line(line) {
  sub(/^ *\/\* ?/, "", line)
  sub(/^ \* ?/, "", line)
  sub(/ *\*\/.*$/, "", line)
  return line
}
function show(declarations, text) {
  printf ".PP\n.nf\n\\fB%s\\fR\n.fi\n", declarations
  if (text != "")
    printf ".RS 4\n%s.RE\n", text
}
BEGIN {
  name = ARGV[1]
  sub(/.*\//, "", name)
  sub(/\.h$/, "", name)
}
/^#(ifndef|define|ifdef|endif|include)/ || /^extern "C"/ || /^}$/ { next }
/^\/\*/ && !/\*\/.+/ || in_comment {
  if (!in_comment)
    text = ""
  in_comment = !/\*\//
  line = comment_line($0)
  if (!headed) {
    headed = 1
    what = line
    sub(/^coremap: /, "", what)
    sub(/\.$/, "", what)
    printf ".TH coremap_%s 3 \"\" \"coremap %s\" \"Library\"\n.SH NAME\ncoremap_%s \\- %s\n", name, version, name, escaped(what)
    printf ".SH SYNOPSIS\n.nf\n\\fB#include <coremap/%s.h>\\fR\n\ncc ... $(pkg\\-config \\-\\-cflags \\-\\-libs coremap)\n.fi\n", name
  } else if (line != "")
    text = text escaped(line) "\n"
  else
    text = text ".PP\n"
  if (!in_comment && !begun) {
    begun = 1
    if (text != "")
      printf ".SH DESCRIPTION\n%s", text
    print ".SH INTERFACE"
    text = ""
  }
  next
}
/^$/ {
  if (declarations != "")
    show(declarations, text)
  declarations = text = ""
  next
}
{
  line = $0
  remark = ""
  if (match(line, /\/\*.*\*\//)) {
    remark = comment_line(substr(line, RSTART))
    line = substr(line, 1, RSTART - 1)
    sub(/ +$/, "", line)
  }
  declarations = declarations (declarations != "" ? "\n" : "") escaped(line)
  if (remark != "")
    text = text escaped(remark) "\n"
}
END {
  if (declarations != "")
    show(declarations, text)
  print ".SH SEE ALSO\n.BR coremap_error (3),\n.BR coremap_run (3),\n.BR coremap_tables (3),\n.BR coremap_network (3),\n.BR coremap_generate (3),\n.BR coremap_chip (3),"
  print ".BR coremap_map (3),\n.BR coremap_partition (3),\n.BR coremap_routes (3),\n.BR coremap_check (3),\n.BR coremap_simulate (3),\n.BR coremap_compile (3),"
  print ".BR coremap_program (3),\n.BR coremap_schedule (3),\n.BR coremap_train (3),\n.BR coremap_client (3),\n.BR coremap (1)"
}
