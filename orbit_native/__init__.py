"""Mechanism: bytes and integers in, arrays out. Knows no SQL, no configuration and nothing of `orbit`."""
