"""Is a bound ever too low? Random programs are run, each section beside its bound."""
