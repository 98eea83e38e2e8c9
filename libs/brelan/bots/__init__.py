"""Bots: players that use nothing but the room's public interface. Start at ``crew``.

==========  ==============================================
module      what
==========  ==============================================
``brain``   what to do with cards and chips
``temper``  how a bot is
``bot``     one bot at one table, from coming in to leaving
``crew``    all bots of a run
``report``  what came of their commands
==========  ==============================================
"""
