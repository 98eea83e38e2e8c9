"""Players whose accounts an identity provider keeps."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "players_elsewhere",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject", name="pk_players_elsewhere"),
        sa.ForeignKeyConstraint(["player_id"], ["players.player_id"], name="fk_players_elsewhere_player_id_players"),
        sa.UniqueConstraint("player_id", name="uq_players_elsewhere_player_id"),
    )


def downgrade() -> None:
    raise NotImplementedError("players are never brought back: restore the backup that was made before")
