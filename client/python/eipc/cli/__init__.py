"""The commands of `eipc` that are written in Python: python3 -m eipc.cli, which the program `eipc` becomes for them."""
