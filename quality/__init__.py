"""What is asked of the bench itself: faults, mutants, soak, differential, speeds."""
