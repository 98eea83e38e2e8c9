"""Every table of the room's SQL database. SQLite and PostgreSQL alike: portable types, no generated ids.

========================  =========  ==========================================================================
tables                    writer     hold
========================  =========  ==========================================================================
``ledger_*``              wallet     double entry; how far the wallet has read; what it sends
``history_*``             history    finished hands; how far history has read
``players*``              gateway    who may log in, and for whom an identity provider speaks
========================  =========  ==========================================================================

A change here is a new migration in ``migrations/versions``; a test compares the two.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# --- ledger: written by the wallet alone ----------------------------------------------------------------------------

ledger_writer = Table(  # one row: which page comes next; whoever moves it on may write
    "ledger_writer",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("page", BigInteger, nullable=False),
)

ledger_cursors = Table(
    "ledger_cursors",
    metadata,
    Column("stream", Text, primary_key=True),
    Column("entry_id", Text, nullable=False),
    Column("digest", LargeBinary),  # of that entry, to know it again
)

ledger_tails = Table(  # what the wallet has seen of each shard, so that it notices what is not there any more
    "ledger_tails",
    metadata,
    Column("shard", Text, primary_key=True),
    Column("epoch", BigInteger, nullable=False),  # the highest
    Column("server", Text, nullable=False),  # on which it began
    Column("lost", Text, nullable=False),  # id of an entry that is gone, until its shard has been told; "": none
)

ledger_claims = Table(  # paid to a player already, for chips that he has at a table still (brelan.ledger.lost)
    "ledger_claims",
    metadata,
    Column("table_id", Text, nullable=False),
    Column("player_id", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    PrimaryKeyConstraint("table_id", "player_id"),
    CheckConstraint("amount >= 0", name="never_negative"),
)

ledger_accounts = Table(
    "ledger_accounts",
    metadata,
    Column("account", Text, primary_key=True),
    Column("balance", BigInteger, nullable=False),
    Column("sequence", BigInteger, nullable=False),  # postings so far
    CheckConstraint("balance >= 0 OR account IN ('cashier', 'suspense')", name="never_negative"),
)

ledger_transfers = Table(  # append-only: declined ones too, so that the same id gets the same answer for ever
    "ledger_transfers",
    metadata,
    Column("transfer_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # the request as it was decided
    Column("at_ms", BigInteger, nullable=False),
    Column("cause", Text, nullable=False),
    Column("trace", Text, nullable=False),
    Column("page", BigInteger, nullable=False, server_default="0", index=True),  # 0: written before pages were noted
    CheckConstraint("outcome IN ('booked', 'declined')", name="outcome"),
)

ledger_postings = Table(  # append-only
    "ledger_postings",
    metadata,
    Column("account", Text, ForeignKey("ledger_accounts.account"), nullable=False),
    Column("sequence", BigInteger, nullable=False),  # of the account, from 1 without a gap
    Column("transfer_id", Text, ForeignKey("ledger_transfers.transfer_id"), nullable=False, index=True),
    Column("amount", BigInteger, nullable=False),
    Column("balance_after", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "sequence"),
    CheckConstraint("amount <> 0", name="not_zero"),
)

ledger_outgoing = Table(  # append-only: number n goes out on its stream under the id "<n>-0"
    "ledger_outgoing",
    metadata,
    Column("stream", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "number"),
)

ledger_dead = Table(
    "ledger_dead",
    metadata,
    Column("stream", Text, nullable=False),
    Column("entry_id", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("error", Text, nullable=False),
    PrimaryKeyConstraint("stream", "entry_id"),
)

# --- history: written by the history service alone ------------------------------------------------------------------

history_writers = Table(
    "history_writers",
    metadata,
    Column("shard", Text, primary_key=True),
    Column("page", BigInteger, nullable=False),
)

history_cursors = Table(
    "history_cursors",
    metadata,
    Column("stream", Text, primary_key=True),
    Column("entry_id", Text, nullable=False),
    Column("digest", LargeBinary),  # of that entry, to know it again
)

history_tables = Table(  # where the archive of a table ends, and what has to be known to go on from there
    "history_tables",
    metadata,
    Column("table_id", Text, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("state", LargeBinary, nullable=False),
)

history_hands = Table(
    "history_hands",
    metadata,
    Column("hand_id", Text, primary_key=True),
    Column("table_id", Text, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("game", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("lower_limit", BigInteger, nullable=False),
    Column("upper_limit", BigInteger, nullable=False),
    Column("currency_unit", BigInteger, nullable=False),
    Column("started_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Column("button", Integer),
    Column("pot", BigInteger, nullable=False),
    Column("rake", BigInteger, nullable=False),
    Column("voided", Boolean, nullable=False),
    Column("history", LargeBinary, nullable=False),  # brelan.histories.hand.HandHistory: nothing hidden in it
    Index(None, "table_id", "ended_ms"),
    Index(None, "ended_ms"),
)

history_entries = Table(  # the hand's log entries, to play it again
    "history_entries",
    metadata,
    Column("hand_id", Text, ForeignKey("history_hands.hand_id"), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("hand_id", "version"),
)

history_players = Table(
    "history_players",
    metadata,
    Column("hand_id", Text, ForeignKey("history_hands.hand_id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("player_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),  # of the hand, for the index
    Column("starting_stack", BigInteger, nullable=False),
    Column("finishing_stack", BigInteger, nullable=False),
    Column("result", BigInteger, nullable=False),
    PrimaryKeyConstraint("hand_id", "seat"),
    Index(None, "player_id", "ended_ms", "hand_id"),
)

history_cards = Table(  # every seat's own cards, also of hands that must stay hidden: read by histories.queries alone
    "history_cards",
    metadata,
    Column("hand_id", Text, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("player_id", Text, nullable=False),
    Column("cards", LargeBinary, nullable=False),  # a byte each, as dealt
    Column("discards", LargeBinary, nullable=False),
    PrimaryKeyConstraint("hand_id", "seat"),
)

history_deals = Table(  # what records of the deal are made of (docs/fairness.md), and the secrets, for the auditor only
    "history_deals",
    metadata,
    Column("hand_id", Text, primary_key=True),
    Column("table_id", Text, nullable=False),
    Column("deal", LargeBinary, nullable=False),  # brelan.events.dealing.DealRecord, compressed
    Column("for_audit", LargeBinary, nullable=False),
    Index(None, "table_id"),
)

history_dead = Table(
    "history_dead",
    metadata,
    Column("stream", Text, nullable=False),
    Column("entry_id", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("error", Text, nullable=False),
    PrimaryKeyConstraint("stream", "entry_id"),
)

# --- players: written by the gateway and the command line -----------------------------------------------------------

players = Table(
    "players",
    metadata,
    Column("player_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False),  # brelan.auth.names.key_of: one player a name, however it is written
    Column("password_hash", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
    UniqueConstraint("name_key"),
)

players_elsewhere = Table(  # whose account an identity provider keeps
    "players_elsewhere",
    metadata,
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("player_id", Text, ForeignKey("players.player_id"), nullable=False),
    PrimaryKeyConstraint("issuer", "subject"),
    UniqueConstraint("player_id"),
)
