"""The simulator: the services' own code in a room of one process, with a clock of its own and faults from one seed.

``world`` builds a room and runs it, ``checkers`` watch it, ``report`` runs many worlds and says what came of them.
What is the room's own code here and what is a stand-in: docs/adr/0009-a-simulator-of-the-whole-room.md.
"""
