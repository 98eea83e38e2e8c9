"""Alembic's side: ``env`` runs the steps in ``versions``, oldest first. Never edit a step that has shipped."""
