"""What every kind of job promises."""
