# Writes the chip presets (one JSON file each) as C string constants.
function base(path) { sub(/.*\//, "", path); sub(/\.json$/, "", path); return path }
BEGIN {
  print "/* Made from core/chip/presets at build time. */"
  print "#include <stddef.h>"
  print "#include \"core/chip/presets.h\""
  print "const cm_chip_preset cm_chip_preset_table[] = {"
}
FNR == 1 {
  if (count) print "},"
  name[count++] = base(FILENAME)
  printf "{\"%s\",\n", base(FILENAME)
}
{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); printf "\"%s\\n\"\n", $0 }
END {
  print "},\n{NULL, NULL}};"
  print "const char *const cm_chip_preset_names[] = {"
  for (i = 0; i < count; i++) printf "\"%s\", ", name[i]
  print "NULL};"
}
