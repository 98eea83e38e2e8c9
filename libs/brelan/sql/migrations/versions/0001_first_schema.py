"""The first schema: ledger, histories, players."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPEND_ONLY = ("ledger_transfers", "ledger_postings", "ledger_outgoing")


def upgrade() -> None:
    create_ledger()
    op.execute("INSERT INTO ledger_writer (id, page) VALUES (1, 0)")
    create_history()
    create_players()
    if op.get_context().dialect.name == "sqlite":
        forbid_changes_in_sqlite()
    else:
        forbid_changes_in_postgresql()


def downgrade() -> None:
    raise NotImplementedError("there is nothing before the first schema: an empty database is a new file")


def forbid_changes_in_sqlite() -> None:
    for table in APPEND_ONLY:
        for change in ("update", "delete"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{change} BEFORE {change.upper()} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def forbid_changes_in_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION brelan_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION brelan_append_only()"
        )


def create_ledger() -> None:
    op.create_table(
        "ledger_accounts",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("balance >= 0 OR account IN ('cashier', 'suspense')", name="never_negative"),
        sa.PrimaryKeyConstraint("account"),
    )
    op.create_table(
        "ledger_cursors",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("entry_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("stream"),
    )
    op.create_table(
        "ledger_dead",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("entry_id", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("stream", "entry_id"),
    )
    op.create_table(
        "ledger_outgoing",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("stream", "number"),
    )
    op.create_table(
        "ledger_transfers",
        sa.Column("transfer_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("trace", sa.Text(), nullable=False),
        sa.CheckConstraint("outcome IN ('booked', 'declined')", name="outcome"),
        sa.PrimaryKeyConstraint("transfer_id"),
    )
    op.create_table(
        "ledger_writer",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("page", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "ledger_postings",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("transfer_id", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("balance_after", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("amount <> 0", name="not_zero"),
        sa.ForeignKeyConstraint(["account"], ["ledger_accounts.account"]),
        sa.ForeignKeyConstraint(["transfer_id"], ["ledger_transfers.transfer_id"]),
        sa.PrimaryKeyConstraint("account", "sequence"),
    )
    op.create_index("ix_ledger_postings_transfer_id", "ledger_postings", ["transfer_id"])


def create_history() -> None:
    op.create_table(
        "history_cards",
        sa.Column("hand_id", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("cards", sa.LargeBinary(), nullable=False),
        sa.Column("discards", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hand_id", "seat"),
    )
    op.create_table(
        "history_cursors",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("entry_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("stream"),
    )
    op.create_table(
        "history_dead",
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("entry_id", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("stream", "entry_id"),
    )
    op.create_table(
        "history_hands",
        sa.Column("hand_id", sa.Text(), nullable=False),
        sa.Column("table_id", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("lower_limit", sa.BigInteger(), nullable=False),
        sa.Column("upper_limit", sa.BigInteger(), nullable=False),
        sa.Column("currency_unit", sa.BigInteger(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger(), nullable=False),
        sa.Column("button", sa.Integer(), nullable=True),
        sa.Column("pot", sa.BigInteger(), nullable=False),
        sa.Column("rake", sa.BigInteger(), nullable=False),
        sa.Column("voided", sa.Boolean(), nullable=False),
        sa.Column("history", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hand_id"),
    )
    op.create_index("ix_history_hands_ended_ms", "history_hands", ["ended_ms"])
    op.create_index("ix_history_hands_table_id_ended_ms", "history_hands", ["table_id", "ended_ms"])
    op.create_table(
        "history_tables",
        sa.Column("table_id", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("table_id"),
    )
    op.create_table(
        "history_writers",
        sa.Column("shard", sa.Text(), nullable=False),
        sa.Column("page", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("shard"),
    )
    op.create_table(
        "history_entries",
        sa.Column("hand_id", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["hand_id"], ["history_hands.hand_id"]),
        sa.PrimaryKeyConstraint("hand_id", "version"),
    )
    op.create_table(
        "history_players",
        sa.Column("hand_id", sa.Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger(), nullable=False),
        sa.Column("starting_stack", sa.BigInteger(), nullable=False),
        sa.Column("finishing_stack", sa.BigInteger(), nullable=False),
        sa.Column("result", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["hand_id"], ["history_hands.hand_id"]),
        sa.PrimaryKeyConstraint("hand_id", "seat"),
    )
    op.create_index(
        "ix_history_players_player_id_ended_ms_hand_id",
        "history_players",
        ["player_id", "ended_ms", "hand_id"],
    )


def create_players() -> None:
    op.create_table(
        "players",
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("player_id"),
        sa.UniqueConstraint("name_key"),
    )
