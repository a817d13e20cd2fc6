"""Code that the pages show: small, whole, and run by the tests."""
