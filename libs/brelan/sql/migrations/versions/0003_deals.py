"""What it takes to check a deal."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "history_deals",
        sa.Column("hand_id", sa.Text(), nullable=False),
        sa.Column("table_id", sa.Text(), nullable=False),
        sa.Column("deal", sa.LargeBinary(), nullable=False),
        sa.Column("for_audit", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hand_id", name="pk_history_deals"),
    )
    op.create_index("ix_history_deals_table_id", "history_deals", ["table_id"])


def downgrade() -> None:
    raise NotImplementedError("an archive is never brought back: restore the backup that was made before")
