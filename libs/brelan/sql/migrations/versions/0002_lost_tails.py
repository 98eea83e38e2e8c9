"""What it takes to notice that the end of an event log was lost, to set it right, and to audit what is new."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for cursors in ("ledger_cursors", "history_cursors"):
        op.add_column(cursors, sa.Column("digest", sa.LargeBinary(), nullable=True))
    op.add_column("ledger_transfers", sa.Column("page", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_index("ix_ledger_transfers_page", "ledger_transfers", ["page"])
    op.create_table(
        "ledger_tails",
        sa.Column("shard", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("lost", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("shard"),
    )
    op.create_table(
        "ledger_claims",
        sa.Column("table_id", sa.Text(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("amount >= 0", name="never_negative"),
        sa.PrimaryKeyConstraint("table_id", "player_id"),
    )


def downgrade() -> None:
    raise NotImplementedError("a ledger is never brought back: restore the backup that was made before")
