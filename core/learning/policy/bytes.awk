# Turns the output of od -An -v -tu1, one file after the other, into the C source of core/learning/policy/shipped.h.
BEGIN {
  print "#include \"core/learning/policy/shipped.h\""
}
FNR == 1 {
  if (files > 0) print "0};"
  printf "static const unsigned char file_%d[] = {\n", files++
}
{
  for (i = 1; i <= NF; i++) printf "%s,", $i
  print ""
  count[files] += NF
}
END {
  print "0};"
  print "const cm_shipped_file cm_shipped_files[] = {"
  for (i = 0; i < files; i++) printf "  {file_%d, %d},\n", i, count[i + 1]
  print "};"
}
