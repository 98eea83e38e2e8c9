"""Structured logs: one line an event, as JSON for machines or as text for people, with the service's name in each.

Nothing secret is logged: values under telling names are masked, and so are passwords inside URLs.
"""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, Literal

import structlog

MASKED = "***"
SECRET_NAME = re.compile(r"password|passwd|secret|token|seed|cards?$|authorization|cookie|(^|_)key$", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")

Event = MutableMapping[str, Any]


def mask_secrets(_: Any, __: str, event: Event) -> Event:
    for name, value in event.items():
        if SECRET_NAME.search(name):
            event[name] = MASKED
        elif isinstance(value, str) and "://" in value:
            event[name] = _URL_PASSWORD.sub(f"{MASKED}@", value)
    return event


def configure_logs(service: str, log_format: Literal["console", "json"], level: str = "INFO") -> None:
    """Once, when a process starts. Lines go to standard error; other libraries' logs come out in the same form."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _named(service),
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if log_format == "json":
        last += [structlog.processors.format_exc_info, mask_secrets, structlog.processors.JSONRenderer()]
    else:
        # A plain traceback: with the local variables of its frames a crashing dealer would print cards and keys.
        plain = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        last += [mask_secrets, plain]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=last))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _named(service: str) -> structlog.typing.Processor:
    def name(_: Any, __: str, event: Event) -> Event:
        event.setdefault("service", service)
        return event

    return name
