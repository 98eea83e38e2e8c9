"""The rules of the room: pure, no clock, no chance, no I/O. Start at ``table.decide`` and ``table.evolve``.

=================  ==========================================================
module             what of the rulebook, or what for
=================  ==========================================================
``cards``          the cards, decks (D1)
``evaluation``     hands and boards (D2, D3, S7, S14)
``configuration``  what a table may be configured to (S1, S15)
``game``           what a game is; ``games``: the two there are
``draw``           D1-D15
``stud``           S1-S15
``betting``        B1-B7, B11: who may do what in a round
``pots``           B8-B10, M5
``clock``          T1-T9
``showdown``       H1-H7
``seating``        M1-M4
``between_hands``  S2, and what had to wait for the end of a hand
``hand``           the course of a hand, from the deal to the showdown
``dealing``        what is asked of the dealer, and whether the answer fits
``operating``      opening, pausing, closing, freezing a table
``rejections``     every refusal
``invariants``     M6 and what else must hold after every decision
``state``          what a table knows
``folding``        how its facts change that (``evolve``)
``draft``          a decision in the making
``table``          all of it together
=================  ==========================================================
"""
