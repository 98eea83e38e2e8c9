"""Tickets for sockets: good once, soon, here, and for nothing else."""

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brelan.auth.accounts import Player
from brelan.auth.tickets import AUDIENCE, KIND, LIFETIME_SECONDS, TicketOffice
from brelan.auth.tokens import ISSUER, LEEWAY_SECONDS, BadToken, Claims, Issuer, Verifier, key_id
from brelan.eventlog.memory_log import MemoryStore

KEY = Ed25519PrivateKey.generate()
SESSION = Claims("p_ana", "Ana", "player", 1_000, 50_000, "token-1")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> MemoryStore:
    return MemoryStore(lambda: int(clock.now * 1000))


@pytest.fixture
def office(clock: Clock, store: MemoryStore) -> TicketOffice:
    return TicketOffice(KEY, store, clock=clock)


async def test_a_ticket_stands_for_its_session(office: TicketOffice) -> None:
    assert await office.redeem(office.issue(SESSION)) == SESSION


async def test_it_is_used_once(office: TicketOffice) -> None:
    ticket = office.issue(SESSION)
    await office.redeem(ticket)
    with pytest.raises(BadToken, match="used before"):
        await office.redeem(ticket)
    assert await office.redeem(office.issue(SESSION)) == SESSION


async def test_it_is_good_for_half_a_minute(office: TicketOffice, clock: Clock) -> None:
    first, second = office.issue(SESSION), office.issue(SESSION)
    clock.now += LIFETIME_SECONDS
    await office.redeem(first)
    clock.now += LEEWAY_SECONDS
    with pytest.raises(BadToken, match="expired"):
        await office.redeem(second)


async def test_a_used_ticket_is_remembered_as_long_as_it_would_be_good(
    office: TicketOffice, store: MemoryStore, clock: Clock
) -> None:
    ticket = office.issue(SESSION)
    await office.redeem(ticket)
    clock.now += LIFETIME_SECONDS + LEEWAY_SECONDS - 1
    with pytest.raises(BadToken, match="used before"):
        await office.redeem(ticket)
    clock.now += 10
    await office.redeem(office.issue(SESSION))
    assert len(store.tickets) == 1


async def test_it_ends_with_its_session(office: TicketOffice, clock: Clock) -> None:
    clock.now = 49_990.0
    ticket = office.issue(SESSION)
    clock.now = 50_001.0
    with pytest.raises(BadToken, match="ended"):
        await office.redeem(ticket)


async def test_gateways_with_one_key_take_each_others_tickets_once(
    office: TicketOffice, store: MemoryStore, clock: Clock
) -> None:
    another = TicketOffice(KEY, store, clock=clock)
    ticket = office.issue(SESSION)
    assert await another.redeem(ticket) == SESSION
    for each in (office, another):
        with pytest.raises(BadToken, match="used before"):
            await each.redeem(ticket)


async def test_a_new_key_takes_over_while_the_old_one_is_trusted(
    office: TicketOffice, store: MemoryStore, clock: Clock
) -> None:
    newer = TicketOffice(Ed25519PrivateKey.generate(), store, trusted=[KEY.public_key()], clock=clock)
    assert await newer.redeem(office.issue(SESSION)) == SESSION
    with pytest.raises(BadToken):
        await office.redeem(newer.issue(SESSION))


async def test_a_token_is_no_ticket_and_a_ticket_is_no_token(office: TicketOffice, clock: Clock) -> None:
    token = Issuer(KEY, clock=clock).token_for(Player("p_ana", "Ana", "player", 0))
    with pytest.raises(BadToken):
        await office.redeem(token)
    with pytest.raises(BadToken):
        Verifier([KEY.public_key()], clock=clock).verify(office.issue(SESSION))


GOOD = {"iss": ISSUER, "aud": AUDIENCE, "sub": "p_ana", "exp": 1_020, "jti": "x", "session": {}}
HEADERS = {"typ": KIND, "kid": key_id(KEY.public_key())}
PUBLIC = KEY.public_key().public_bytes_raw()


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
@pytest.mark.parametrize(
    ("claims", "headers", "algorithm", "key"),
    [
        (GOOD, HEADERS, "EdDSA", Ed25519PrivateKey.generate()),
        (GOOD, {**HEADERS, "kid": "another"}, "EdDSA", KEY),
        (GOOD, {**HEADERS, "typ": "JWT"}, "EdDSA", KEY),
        (GOOD, HEADERS, "none", None),
        (GOOD, HEADERS, "HS256", PUBLIC),
        ({**GOOD, "aud": "brelan-gateway"}, HEADERS, "EdDSA", KEY),
        ({**GOOD, "iss": "somebody"}, HEADERS, "EdDSA", KEY),
        ({**GOOD, "exp": 900}, HEADERS, "EdDSA", KEY),
        ({**GOOD, "exp": "never"}, HEADERS, "EdDSA", KEY),
        ({**GOOD, "session": {"player_id": "p_ben"}}, HEADERS, "EdDSA", KEY),
        ({name: value for name, value in GOOD.items() if name != "jti"}, HEADERS, "EdDSA", KEY),
    ],
)
async def test_forgeries_open_nothing(
    office: TicketOffice, claims: dict[str, object], headers: dict[str, str], algorithm: str, key: object
) -> None:
    forged = jwt.encode(claims, key, algorithm=algorithm, headers=headers)  # type: ignore[arg-type]
    with pytest.raises(BadToken):
        await office.redeem(forged)


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "é", "x" * 10_000])
async def test_nonsense_opens_nothing(office: TicketOffice, text: str) -> None:
    with pytest.raises(BadToken):
        await office.redeem(text)
