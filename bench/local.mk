EXTRA_DIST += bench/reference-vs-metis bench/agreement bench/axons bench/wide.json
