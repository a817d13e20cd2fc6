"""Adapters to learn and copy from; the kit's own tests hold them to the contract."""
