"""``brelan acl``: what it writes is what Redis takes, passwords can be changed while all is running, and wrong input is
said in a sentence and leaves nothing."""

import stat
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from brelan.cli.acl import acl
from brelan.eventlog.acl import USERS
from tests.fixtures_redis import bundled_server
from tests.processes import free_port, start, wait_until
from tests.requirements import need_program


def run(*arguments: object) -> Result:
    return CliRunner().invoke(acl, [str(one) for one in arguments])


def passwords_in(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def logs_in(port: int, user: str, password: str) -> bool:
    with redis.Redis(port=port, username=user, password=password) as client:
        try:
            return bool(client.ping())
        except (redis.AuthenticationError, redis.ConnectionError):
            return False


@pytest.mark.redis
@pytest.mark.parametrize("program", ["redis", "valkey"])
def test_a_server_starts_with_the_file_and_passwords_change_while_it_runs(tmp_path: Path, program: str) -> None:
    old, new, file, port = tmp_path / "old", tmp_path / "new", tmp_path / "users.acl", free_port()
    assert run("--passwords", old, "--to", file).exit_code == 0
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    assert not any(password in file.read_text() for password in passwords_in(old).values())
    binary = str(bundled_server() if program == "valkey" else need_program("redis-server"))
    server = start([binary, "--port", str(port), "--save", "", "--dir", str(tmp_path), "--aclfile", str(file)])
    try:
        administrator = passwords_in(old)["administrator"]
        wait_until(lambda: logs_in(port, "administrator", administrator), 20, "the server")
        assert all(logs_in(port, name, password) for name, password in passwords_in(old).items())
        with redis.Redis(port=port) as nobody, pytest.raises(redis.AuthenticationError):
            nobody.ping()
        assert run("--passwords", new, "--former", old, "--to", file).exit_code == 0
        with redis.Redis(port=port, username="administrator", password=administrator) as admin:
            admin.acl_load()
        for passwords in (old, new):
            assert all(logs_in(port, name, password) for name, password in passwords_in(passwords).items())
        assert run("--passwords", new, "--to", file).exit_code == 0
        with redis.Redis(port=port, username="administrator", password=passwords_in(new)["administrator"]) as admin:
            admin.acl_load()
        assert not any(logs_in(port, name, password) for name, password in passwords_in(old).items())
        assert all(logs_in(port, name, password) for name, password in passwords_in(new).items())
    finally:
        server.terminate()
        server.wait(20)


def test_the_file_is_printed_when_no_place_is_named_for_it(tmp_path: Path) -> None:
    done = run("--passwords", tmp_path / "passwords")
    assert done.exit_code == 0
    assert done.stdout.startswith("user default off")
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["default", *USERS]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no password for gateway, table"),
        ("dealer\n", "line 1"),
        ("dealer=\n", "line 1"),
        ("nobody=x\n", "line 1"),
        ("dealer=x\ndealer=y\n", "dealer a second time"),
        ("dealer=x\n", "has no password for"),
    ],
)
def test_a_file_of_passwords_that_is_not_right_is_said_and_nothing_written(
    tmp_path: Path, text: str, says: str
) -> None:
    passwords, file = tmp_path / "passwords", tmp_path / "users.acl"
    passwords.write_text(text)
    passwords.chmod(0o600)
    done = run("--passwords", passwords, "--to", file)
    assert done.exit_code == 2
    assert says in done.stderr
    assert not file.exists()


def test_passwords_that_others_can_read_are_refused(tmp_path: Path) -> None:
    passwords = tmp_path / "passwords"
    assert run("--passwords", passwords).exit_code == 0
    passwords.chmod(0o644)
    done = run("--passwords", passwords)
    assert done.exit_code == 2
    assert "chmod 600" in done.stderr


def test_a_wrong_file_of_former_passwords_makes_nothing(tmp_path: Path) -> None:
    former, passwords = tmp_path / "former", tmp_path / "passwords"
    former.write_text("nobody=x\n")
    former.chmod(0o600)
    done = run("--passwords", passwords, "--former", former)
    assert done.exit_code == 2
    assert not passwords.exists()


def test_a_user_is_not_dropped_without_a_word(tmp_path: Path) -> None:
    former, passwords = tmp_path / "former", tmp_path / "passwords"
    assert run("--passwords", former).exit_code == 0
    former.write_text(former.read_text() + "replica=x\n")
    done = run("--passwords", passwords, "--former", former)
    assert done.exit_code == 2
    assert "no password for replica" in done.stderr
