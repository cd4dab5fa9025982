"""What the rows of the benchmark are measured with."""
