"""What is asked of the bench itself: faults, soak, soundness, differential, speeds and the like."""
