"""What a log line looks like, and what never stands in one."""

import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from brelan.telemetry.logs import configure_logs, mask_secrets


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_a_line_is_json_with_the_service_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("table", "json")
    structlog.get_logger("a").info("fenced", shard="s00")
    line = json.loads(capsys.readouterr().err)
    assert {"event": "fenced", "shard": "s00", "service": "table", "level": "info"}.items() <= line.items()
    assert line["timestamp"].endswith("Z")


def test_other_libraries_come_out_in_the_same_form(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("table", "json")
    logging.getLogger("uvicorn").warning("%s is %s", "it", "late")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["service"], line["level"]) == ("it is late", "table", "warning")


def test_an_error_brings_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("table", "json")
    try:
        raise ValueError("odd")
    except ValueError:
        structlog.get_logger("b").exception("failed")
    assert "ValueError: odd" in json.loads(capsys.readouterr().err)["exception"]


def test_text_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("table", "console")
    structlog.get_logger("c").info("fenced", shard="s00")
    assert "fenced" in capsys.readouterr().err


def test_below_the_level_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("table", "json", "WARNING")
    structlog.get_logger("d").info("fenced")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["password", "access_token", "dealer_seed", "hole_cards", "private_key", "key"])
def test_masks_what_is_secret_by_its_name(name: str) -> None:
    assert mask_secrets(None, "", {name: "x"}) == {name: "***"}


def test_masks_passwords_in_urls() -> None:
    event = {"url": "redis://table:pw@host:6379/0", "event": "cannot reach redis://:pw@host"}
    assert mask_secrets(None, "", event) == {"url": "redis://***@host:6379/0", "event": "cannot reach redis://***@host"}


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_traceback_shows_no_values(
    log_format: Literal["json", "console"], capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs("dealer", log_format)
    held = "the-ace-of-" + "spades"
    try:
        raise ValueError(len(held))
    except ValueError:
        structlog.get_logger("a").exception("failed")
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert held not in shown
