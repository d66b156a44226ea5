"""Is it any good? Measures, sets of questions, and the runs over them."""
