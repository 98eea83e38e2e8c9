"""Celery as the timer uses it, and why each setting is what it is.

No task has an ETA or a countdown: only what is due is handed out, so nothing waits in a worker's memory and nothing is
ever revoked (measured: pending countdowns of a killed worker fired 99 s late; `revoke` costs every worker). The broker
is a Redis of its own that may lose everything; Redis Cluster is not supported as one.
"""

from collections.abc import Callable, Sequence
from typing import Any

import structlog
from celery import Celery
from celery.app.amqp import AMQP
from redis.exceptions import RedisError

from brelan.eventlog.blocking import BlockingStore
from brelan.eventlog.keys import Service
from brelan.eventlog.log import LogUnavailable
from brelan.telemetry import metrics
from brelan_timer import tasks
from brelan_timer.settings import TimerSettings

EXPIRE_TURNS = "brelan.expire_turns"
REPORT_OVERDUE = "brelan.report_overdue"
REPORT_SECONDS = 5.0
QUEUE = "brelan-timer"

logger = structlog.get_logger(__name__)

CONFIGURATION = {
    "task_default_queue": QUEUE,
    # Arguments are JSON: lists, texts, numbers. No result is kept, so none can be lost or pile up.
    "task_serializer": "json",
    "accept_content": ["json"],
    "task_ignore_result": True,
    # Acknowledged when it starts: what dies with its worker is handed out again by the sweeper after one second.
    # Acknowledged late, the broker would restore it after the visibility timeout, long after it had its effect.
    "task_acks_late": False,
    # What was fetched and never started is restored by the broker after a minute, when it does no harm any more. The
    # two throttles make that a minute: with their defaults it is up to a hundred seconds more.
    "broker_transport_options": {
        "visibility_timeout": 60,
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 5,
    },
    "broker_connection_timeout": 2,
    "broker_connection_retry": True,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    # The sweeper tries again by itself, and has to know that it failed.
    "task_publish_retry": False,
    # Threads: the tasks wait for the network. The solo pool took 25 s for what takes threads 0.3 s.
    "worker_pool": "threads",
    "worker_prefetch_multiplier": 4,
    "worker_disable_rate_limits": True,
    # No conversations among workers: nothing is revoked, nobody watches, and each would cost all of them.
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "worker_cancel_long_running_tasks_on_connection_loss": True,
    # Logs are ours.
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
    # Beat keeps no file: a missed report is not worth making up for.
    "beat_scheduler": "celery.beat:Scheduler",
    "beat_max_loop_interval": 1,
    "beat_schedule": {
        "report overdue deadlines": {
            "task": REPORT_OVERDUE,
            "schedule": REPORT_SECONDS,
            "options": {"expires": REPORT_SECONDS},
        },
    },
    "timezone": "UTC",
}  # fmt: skip


class QuickConnection(AMQP.Connection):  # type: ignore[misc]  # Celery is not typed
    """A broker that comes back is found within a second; by default after up to thirty."""

    def _ensure_connection(
        self,
        errback: Any = None,
        max_retries: Any = None,
        interval_start: Any = 0.1,
        interval_step: Any = 0.2,
        interval_max: Any = 1.0,
        callback: Any = None,
        reraise_as_library_errors: Any = True,
        timeout: Any = None,
    ) -> Any:
        intervals = interval_start, interval_step, interval_max
        more = callback, reraise_as_library_errors, timeout
        return super()._ensure_connection(errback, max_retries, *intervals, *more)


def make_app(settings: TimerSettings) -> Celery:
    app = Celery("brelan-timer", broker=settings.broker_url, set_as_current=False)
    app.conf.update(CONFIGURATION, worker_concurrency=settings.worker_threads)
    app.amqp.Connection = QuickConnection
    store = BlockingStore(settings.redis_url)

    def expire_turns(shard: str, due: Sequence[tuple[str, int]], dispatched_ms: int) -> int:
        return _if_there(
            EXPIRE_TURNS, lambda: store.on(shard, lambda client: tasks.expire_turns(client, shard, due, dispatched_ms))
        )

    def report_overdue() -> int:
        return _if_there(REPORT_OVERDUE, lambda: tasks.report_overdue(store.spread(settings.shard_names)))

    app.task(name=EXPIRE_TURNS)(expire_turns)
    app.task(name=REPORT_OVERDUE)(report_overdue)
    return app


def _if_there(task: str, carry_out: Callable[[], int]) -> int:
    """An event log that is away is one line, not a page for every task: all of them are handed out again."""
    try:
        return carry_out()
    except (RedisError, OSError, LogUnavailable) as error:
        metrics.store_errors.labels(Service.TIMER.value).inc()
        reason = str(error).rpartition("caused error: ")[2]  # without the command, which is no text
        logger.warning("a task could not be carried out", task=task, reason=reason or type(error).__name__)
        return 0
