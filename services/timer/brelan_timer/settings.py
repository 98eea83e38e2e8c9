"""The timer's settings: the room's, and how many threads carry out what is due."""

from pydantic import Field

from brelan.settings import RoomSettings


class TimerSettings(RoomSettings):
    worker_threads: int = Field(default=4, ge=1, le=64)  # BRELAN_WORKER_THREADS, of one Celery worker
