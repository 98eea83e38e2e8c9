"""The tests, a folder a kind. What a machine must have for some of them is in ``requirements``."""
