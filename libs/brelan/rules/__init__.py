"""The rules of the room: pure, no clock, no chance, no I/O. Start at ``table.decide`` and ``table.evolve``.

=================  ============================================
module             rules
=================  ============================================
``cards``          the cards, decks (D1)
``evaluation``     hands and boards (D2, D3, S7, S14)
``configuration``  what a table may be configured to (S15, M1)
``betting``        B1-B7, B11
``pots``           B8-B10, M5
``draw``           D1-D15
``stud``           S1-S15
``time``           T1-T9
``showdown``       H1-H7
``seating``        M1-M4, D13-D15
``state``          what a table knows
``table``          decide, evolve
``invariants``     M6 and what must hold after every event
=================  ============================================
"""
