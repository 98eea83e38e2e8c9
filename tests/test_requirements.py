"""What a machine lacks skips a test with a sentence, and fails it where everything is required."""

import pytest

from tests.requirements import missing, need_program

Failed = pytest.fail.Exception
Skipped = pytest.skip.Exception


def test_a_missing_program_skips_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRELAN_REQUIRE", raising=False)
    with pytest.raises(Skipped, match="no-such-program or nor-this is not installed"):
        need_program("no-such-program", "nor-this")


@pytest.mark.parametrize("required", ["all", "docker,no-such-program", "no-such-program, docker"])
def test_a_missing_program_fails_where_it_is_required(monkeypatch: pytest.MonkeyPatch, required: str) -> None:
    monkeypatch.setenv("BRELAN_REQUIRE", required)
    with pytest.raises(Failed, match="no-such-program is not installed"):
        need_program("no-such-program")


def test_what_is_not_on_the_list_is_still_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRELAN_REQUIRE", "docker")
    with pytest.raises(Skipped):
        missing("shared-data", "The hands are not there.")


def test_the_first_program_that_is_there_is_taken() -> None:
    assert need_program("no-such-program", "sh").endswith("/sh")
