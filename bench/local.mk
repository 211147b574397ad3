EXTRA_DIST += bench/reference-vs-metis bench/agreement bench/wide.json
