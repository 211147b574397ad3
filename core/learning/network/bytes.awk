# Turns the output of od -An -v -tu1 into the C source of core/learning/network/shipped.h.
BEGIN {
  print "#include \"core/learning/network/shipped.h\""
  print "const unsigned char cm_shipped_policy[] = {"
}
{
  for (i = 1; i <= NF; i++) printf "%s,", $i
  print ""
  count += NF
}
END {
  print "0};"
  printf "const size_t cm_shipped_policy_size = %d;\n", count
}
