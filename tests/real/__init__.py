"""The contract on published client packages; `tox run -e real` installs them and runs it."""
