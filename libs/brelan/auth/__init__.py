"""Who may log in, and how he proves later that he did: ``accounts`` (names and passwords, in SQL), ``tokens`` (JWT)."""
