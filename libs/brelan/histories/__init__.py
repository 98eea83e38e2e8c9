"""Hands that are over: what is kept of them, who may see what, and how they are written down.

=============  =====================================================================================
``hand``       a finished hand, folded from its events; nothing hidden is in it
``table``      a table's log as a sequence of hands
``archive``    where they are kept: in SQL (``brelan.sql.archive``) or in memory
``projection`` a hand as one player may see it: the only way to hidden cards (ARCHITECTURE §6, H5)
``text``       that, as plain text
``queries``    hands of a player, a hand for a player, from SQL
``phh``        reads the Poker Hand History format
=============  =====================================================================================
"""
