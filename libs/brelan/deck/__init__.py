"""The deck, and what keeps it secret. Only the dealer service deals; gateways and history open what is sealed to them.

=============  ==========================================================================
module         what
=============  ==========================================================================
``shuffle``    a uniform permutation from a stream of random bytes
``dealing``    the deck of one hand as a deterministic state machine: ``deal``, ``evolve``
``comparing``  showdown: who wins which pot, which hands are shown
``events``     what the dealer's own log holds
``sealing``    boxes for one recipient's eyes, and the seal of the dealer's log
``keys``       the key files: made, found, checked
=============  ==========================================================================
"""
