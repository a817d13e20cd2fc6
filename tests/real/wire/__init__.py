"""Each wire format beside the provider's published package, which reads every body of it."""
