"""What is asked of runs and images afterwards: statistics, bounds, explanations, studies."""
