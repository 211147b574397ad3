# Writes the kernels as C string constants.
BEGIN {
  print "/* Made from core/csource/kernels at build time. */"
  print "#include \"core/csource/text/writer.h\""
  print "const cm_c_kernel_text cm_c_kernel_table[] = {"
}
FNR == 1 { inside = 0 }
/^(\/\* )?== / { sub(/^\/\* /, ""); inside = 1; print (count++ ? "},\n" : "") "{\"" $2 "\","; next }
inside { gsub(/\\/, "&&"); gsub(/"/, "\\\""); printf "\"%s\\n\"\n", $0 }
END { print "},\n{0, 0}};" }
