"""The room's money as double entry, pure: no clock, no I/O.

``accounts`` names them, ``transfers`` says what a transfer is, ``decide`` what follows from a request, ``books`` where
a ledger is kept: in SQL (``brelan.sql.books``) or in memory (``memory``). Begin at ``decide``.
"""
