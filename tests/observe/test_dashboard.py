"""Every panel of every dashboard has data, asked of a real Prometheus that scraped a playing room.

The room is ``brelan up`` with bots; Prometheus is started here with a configuration like the one in
``deploy/prometheus``, whose targets are names of the compose network.
"""

import json
import re
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.metrics import MetricWrapperBase

from brelan.telemetry import metrics
from tests.processes import free_port, start
from tests.requirements import need_program
from tests.room import Room

PROJECT = Path(__file__).parents[2]
DASHBOARDS = sorted((PROJECT / "deploy" / "grafana" / "dashboards").glob("*.json"))
DATA_WITHIN_S = 90  # rates need two scrapes, hands need to be played, a time-out needs to run out


class Prometheus:
    def __init__(self, folder: Path, ports: dict[str, int]) -> None:
        self.port = free_port()
        jobs = [{"targets": [f"127.0.0.1:{port}"], "labels": {"service": name}} for name, port in ports.items()]
        scrape = {"job_name": "brelan", "scrape_interval": "1s", "static_configs": jobs}
        config = folder / "prometheus.yml"
        config.write_text(json.dumps({"scrape_configs": [scrape]}))  # JSON is YAML
        self._process = start(
            [
                need_program("prometheus"),
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def values(self, query: str) -> list[float]:
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        with urllib.request.urlopen(url, timeout=10) as answer:
            result = json.load(answer)["data"]["result"]
        return [float(sample["value"][1]) for sample in result]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(20)


@pytest.fixture(scope="module")
def prometheus(room: Room, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    prometheus = Prometheus(tmp_path_factory.mktemp("prometheus"), room.ports)
    yield prometheus
    prometheus.stop()


def _queries() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for file in DASHBOARDS:
        for panel in json.loads(file.read_text())["panels"]:
            found.extend((f"{file.stem}: {panel['title']}", target["expr"]) for target in panel.get("targets", ()))
    return found


def test_there_is_an_overview_with_panels() -> None:
    assert [file.stem for file in DASHBOARDS] == ["overview"]
    assert len(_queries()) >= 20


@pytest.mark.prometheus
@pytest.mark.redis
@pytest.mark.celery
@pytest.mark.timeout(300)
def test_every_panel_has_data(prometheus: Prometheus) -> None:
    waiting = dict(_queries())
    assert len(waiting) >= 20
    deadline = time.monotonic() + DATA_WITHIN_S
    while waiting and time.monotonic() < deadline:
        for title, query in list(waiting.items()):
            try:
                values = prometheus.values(query)
            except OSError:
                break
            if values and all(value == value for value in values):  # noqa: PLR0124 - NaN is no data
                del waiting[title]
        time.sleep(1)
    assert not waiting, f"panels without data: {waiting}"


@pytest.mark.prometheus
@pytest.mark.redis
@pytest.mark.celery
@pytest.mark.timeout(300)
def test_what_may_only_be_zero_is_zero(prometheus: Prometheus, room: Room) -> None:
    for query in (
        "max(abs(brelan_ledger_imbalance_minor_units))",
        "sum(brelan_frozen_tables)",
        "sum(brelan_dead_letters_total) or vector(0)",
        "sum(brelan_early_timeouts_total)",
    ):
        assert prometheus.values(query) == [0.0], query


@pytest.mark.prometheus
def test_promtool_accepts_the_compose_configuration() -> None:
    config = PROJECT / "deploy" / "prometheus" / "prometheus.yml"
    checked = subprocess.run(
        [need_program("promtool"), "check", "config", str(config)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_metric_is_on_a_panel_and_every_panel_asks_for_metrics_there_are() -> None:
    names = {
        family.name
        for metric in vars(metrics).values()
        if isinstance(metric, MetricWrapperBase)
        for family in metric.describe()
    }
    asked = " ".join(query for _, query in _queries())
    unasked = {name for name in names if name not in asked}
    assert unasked <= NOT_ON_THE_OVERVIEW, f"on no panel: {sorted(unasked - NOT_ON_THE_OVERVIEW)}"
    unknown = {word for word in re.findall(r"brelan_\w+", asked) if not any(word.startswith(name) for name in names)}
    assert not unknown, f"no such metric: {sorted(unknown)}"


NOT_ON_THE_OVERVIEW = {
    "brelan_build_info",
    "brelan_celery_tasks_dispatched",
    "brelan_commit_batch_entries",
    "brelan_deals",
    "brelan_hands_voided",
    "brelan_inbox_waiting_entries",
    "brelan_login_failures",
    "brelan_owned_shards",
    "brelan_processor_crashes",
    "brelan_slow_reader_closes",
    "brelan_store_errors",
    "brelan_takeover_seconds",
}
