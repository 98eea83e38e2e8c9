"""A room in a folder: taken while it runs, and made into a room again. What is in it: docs/operating/backup.md."""
