"""BRELAN-DEAL/1: a deal that can be checked ("hidden base, public cut"; docs/fairness.md). Pure: no clock, chance, I/O.

==============  ====================================================================
module          what
==============  ====================================================================
``drbg``        HKDF, HMAC-DRBG, a deck shuffled by it
``merkle``      the tree over a deck's leaves, paths and their check
``commitment``  what the dealer signs before any seed is known; two for one hand
``chains``      the players' seeds: a chain's tip, its next element
``leaves``      base, salts, leaves, cut, reshuffle, openings
``kept``        what the dealer keeps of its commitment, to go on after a crash
``record``      the file a player downloads, and its canonical form
``hand``        the driver: a hand dealt by ``brelan.deck.dealing``, made provable
``verify``      a record or a table's records checked
``audit``       the operator's recomputation from the secrets, after the hand
==============  ====================================================================
"""
