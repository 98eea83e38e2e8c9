"""Key files: made once, never replaced, and a sentence for everything that can be wrong with one."""

import threading
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from brelan.auth.accounts import Player
from brelan.auth.tokens import BadToken, Issuer, Verifier
from brelan.deck import keys
from brelan.deck.keys import KeyFileError, ensure_keys, load_keys, path_of
from brelan.deck.sealing import hole_context, record_context, seal
from brelan.events.dealing import HandRecord, HoleCards, SealedRecord
from brelan.events.envelope import encode


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return ensure_keys(tmp_path)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_all_of_them_are_made_for_their_owner_only(folder: Path) -> None:
    assert set(contents(folder)) == {file.name for file in keys.KEY_FILES}
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in keys.KEY_FILES:
        mode = (folder / file.name).stat().st_mode & 0o777
        assert mode == 0o600 if file.is_secret else mode & 0o600 == 0o600


def test_what_is_there_is_kept(folder: Path) -> None:
    before = contents(folder)
    (folder / keys.HISTORY_PUBLIC.name).unlink()
    ensure_keys(folder.parent)
    assert contents(folder) == before


def test_several_at_once_make_one_set(tmp_path: Path) -> None:
    failed: list[Exception] = []

    def make() -> None:
        try:
            ensure_keys(tmp_path)
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert set(contents(tmp_path / "keys")) == {file.name for file in keys.KEY_FILES}
    ensure_keys(tmp_path)


def test_dealer_gateway_and_history_understand_each_other(folder: Path) -> None:
    hole = HoleCards("h", 2, "ana", (1,), (False,))
    sealed = seal(load_keys(keys.GATEWAY_HOLE_PUBLIC, folder)[0], encode(hole), hole_context("s00-a", 2))
    assert keys.load_hole_card_opener(folder)("s00-a", 2, sealed) == hole
    record = HandRecord("s00-a", "h", ())
    sealed = seal(load_keys(keys.HISTORY_PUBLIC, folder)[0], encode(record), record_context("s00-a", "h"))
    assert keys.load_record_opener(folder)(SealedRecord("s00-a", "h", sealed)) == record
    deck_seal = keys.load_deck_seal(folder)
    assert deck_seal.open("s00-a", "1-0", deck_seal.seal("s00-a", "1-0", b"deck")) == b"deck"


def test_tokens_are_signed_with_ed25519(folder: Path) -> None:
    (key,) = keys.load_token_keys(folder)
    token = jwt.encode({"sub": "ana"}, key, algorithm="EdDSA")
    assert jwt.decode(token, key.public_key(), algorithms=["EdDSA"]) == {"sub": "ana"}


def test_a_new_key_on_top_takes_over(folder: Path) -> None:
    path = folder / keys.DEALER_DECK.name
    old = keys.load_deck_seal(folder)
    path.write_text("11" * 32 + "\n" + path.read_text())
    new = keys.load_deck_seal(folder)
    assert new.open("s00-a", "1-0", old.seal("s00-a", "1-0", b"old")) == b"old"
    with pytest.raises(Exception, match="not here"):
        old.open("s00-a", "2-0", new.seal("s00-a", "2-0", b"new"))


def test_the_environment_may_name_another_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "elsewhere"
    other.write_text("22" * 32)
    other.chmod(0o600)
    monkeypatch.setenv(keys.DEALER_DECK.variable, str(other))
    assert path_of(keys.DEALER_DECK, folder) == other
    assert load_keys(keys.DEALER_DECK, folder) == (b"\x22" * 32,)


# --- sentences ---------------------------------------------------------------------------------------------------


def refusal(folder: Path, file: keys.KeyFile = keys.DEALER_DECK) -> str:
    with pytest.raises(KeyFileError) as refused:
        load_keys(file, folder)
    return str(refused.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"abcd", "has 4 hexadecimal digits: a key has 64"),
        (b"11" * 32 + b"\n" + b"22" * 31, "line 2 of the key file"),
        (b"no key", "is no hexadecimal number"),
        ("schlüssel".encode(), "is no text"),
        (b"\xff\xfe", "is no text"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, content: bytes, reason: str) -> None:
    (folder / keys.DEALER_DECK.name).write_bytes(content)
    sentence = refusal(folder)
    assert reason in sentence
    assert str(folder / keys.DEALER_DECK.name) in sentence


def test_a_missing_file_says_how_to_make_it(folder: Path) -> None:
    (folder / keys.DEALER_DECK.name).unlink()
    assert "is missing. `brelan keys` makes it" in refusal(folder)


def test_a_folder_in_its_place_cannot_be_read(folder: Path) -> None:
    (folder / keys.DEALER_DECK.name).unlink()
    (folder / keys.DEALER_DECK.name).mkdir()
    assert "cannot be read" in refusal(folder)


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o666, 0o660])
def test_a_secret_that_others_can_read_or_change_is_not_used(folder: Path, mode: int) -> None:
    (folder / keys.DEALER_DECK.name).chmod(mode)
    assert "chmod 600" in refusal(folder)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o440, 0o640])
def test_a_secret_handed_to_a_container_may_be_readable_by_its_group(folder: Path, mode: int) -> None:
    (folder / keys.DEALER_DECK.name).chmod(mode)
    assert len(load_keys(keys.DEALER_DECK, folder)) == 1


def test_no_sentence_tells_the_key(folder: Path) -> None:
    path = folder / keys.DEALER_DECK.name
    secret = path.read_text().strip()
    path.write_text(secret + "00")
    assert secret[:8] not in refusal(folder)


def test_a_public_key_that_belongs_to_another_private_one_is_found(folder: Path) -> None:
    (folder / keys.GATEWAY_HOLE_PUBLIC.name).write_text("33" * 32)
    with pytest.raises(KeyFileError, match="on top of it"):
        ensure_keys(folder.parent)


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("content", ["", "no pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_a_signing_key_that_is_none_is_refused(folder: Path, content: str, below: bool) -> None:
    path = folder / keys.GATEWAY_TOKEN.name
    good = path.read_text()
    path.write_text(good[:-30] + content if below else content)
    with pytest.raises(KeyFileError, match="PEM"):
        keys.load_token_keys(folder)


def test_every_key_for_tokens_is_of_the_one_kind(folder: Path) -> None:
    path = folder / keys.GATEWAY_TOKEN.name
    another = ec.generate_private_key(ec.SECP256R1())
    with path.open("ab") as file:
        file.write(another.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(KeyFileError, match=r"key 2 .* Ed25519"):
        keys.load_token_keys(folder)


def test_a_new_key_for_tokens_takes_over_and_nobody_logs_in_again(folder: Path, tmp_path: Path) -> None:
    """Two gateways, as they are restarted one after another."""
    path = folder / keys.GATEWAY_TOKEN.name
    new_folder = ensure_keys(tmp_path / "new")
    old, new = path.read_text(), (new_folder / keys.GATEWAY_TOKEN.name).read_text()
    ana = Player("p_ana", "Ana", "player", 0)
    tokens = []
    former: list[Verifier] = []
    for content in (old, old + new, new + old, new):
        path.write_text(content)
        loaded = keys.load_token_keys(folder)
        verifier = Verifier(key.public_key() for key in loaded)
        tokens.append(Issuer(loaded[0]).token_for(ana))
        for each in (verifier, *former[-1:]):  # the other gateway has yet to be restarted
            assert each.verify(tokens[-1]).player_id == "p_ana"
        if content != new:
            assert [verifier.verify(token).player_id for token in tokens] == ["p_ana"] * len(tokens)
        former.append(verifier)
    with pytest.raises(BadToken):
        former[-1].verify(tokens[0])


def test_a_new_signing_key_is_published_before_it_signs_and_the_old_one_stays(folder: Path) -> None:
    new = bytes(range(32))
    private, public = folder / "dealer-sign.key", folder / "dealer-sign.pub"
    old = public.read_text()
    public.write_text(keys.ed25519_public(new).hex() + "\n" + old)
    ensure_keys(folder.parent)
    private.write_text(new.hex() + "\n" + private.read_text())
    ensure_keys(folder.parent)
    assert [key.hex() for key in load_keys(keys.DEALER_SIGN_PUBLIC, folder)] == public.read_text().split()
    public.write_text(old)
    with pytest.raises(KeyFileError, match=keys.ed25519_public(new).hex()):
        ensure_keys(folder.parent)
