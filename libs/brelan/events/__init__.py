"""Every message of the room, one module per conversation.

================  =====================================================  ==================================
module            what                                                   travels on
================  =====================================================  ==================================
``config``        a table's configuration                                inside ``TableOpened``
``table``         facts of a table's log                                 ``table:<id>``, ``feed``
``commands``      what players, operators and the timer ask of a table   ``commands``
``dealing``       the dealer's answers and records                       ``dealt``, ``records``
``money``         what tables and cashiers ask of the wallet, replies    ``wallet-requests``, ``-replies``
``envelope``      what wraps them on a stream, and the codecs            all of them
================  =====================================================  ==================================

MessagePack on streams, JSON to clients (``brelan.views``). Structs are tagged by a short stable name; a shipped message
only ever gains fields with defaults (golden bytes in ``tests/contract/golden``). Cards are integers 0..51
(``brelan.rules.cards``), amounts integers in the currency's minor unit, times milliseconds of the store's clock.
"""
