"""Names: who may be called what, and which names are one."""

import pytest

from brelan.auth.names import key_of, problem_of


@pytest.mark.parametrize("name", ["Ana", "José", "O'Neill", "jean-luc 2", "Bo", "Zoë_77", "A.B.", "Łukasz", "x" * 24])
def test_a_name_that_can_be_had(name: str) -> None:
    assert problem_of(name) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "has 2 to 24 characters; this one has 0"),
        ("A", "has 2 to 24 characters"),
        ("x" * 25, "has 2 to 24 characters"),
        ("аna", "Latin letters"),  # Cyrillic
        ("Ana🂡", "Latin letters"),
        ("Ana\n", "Latin letters"),
        ("Ana\u200b", "Latin letters"),
        ("<b>Ana", "Latin letters"),
        (" Ana", "neither begins nor ends"),
        ("Ana  B", "two in a row"),
        ("Jose\u0301", "Latin letters"),
        ("1234", "at least one letter"),
        ("Operator", "is the room's own"),
        ("d.e.a.l.e.r", "is the room's own"),
        ("Súpport", "is the room's own"),
    ],
)
def test_a_name_that_cannot_be_had_and_why(name: str, why: str) -> None:
    problem = problem_of(name)
    assert why in problem
    assert problem.endswith(".")


def test_the_room_itself_may_use_its_own_names() -> None:
    assert problem_of("operator", reserved_allowed=True) == ""


@pytest.mark.parametrize("same", ["ANA", "ana", "Á-n_a", "a n a", "Âna", "Aña"])
def test_names_that_look_alike_are_one(same: str) -> None:
    assert key_of(same) == key_of("Ana")


def test_other_names_are_others() -> None:
    assert len({key_of(name) for name in ("Ana", "Anna", "Ana1", "An")}) == 4
