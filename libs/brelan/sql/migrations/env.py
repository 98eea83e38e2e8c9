"""Run by Alembic. The connection comes from ``brelan.sql.migrate``, inside a transaction."""

from alembic import context

from brelan.sql.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
