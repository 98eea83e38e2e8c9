"""What REST requests and answers look like; the OpenAPI document is made from these."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _writable(text: str) -> str:
    """JSON can hold half a character, which no database and no hash takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("there is a character in it that cannot be written") from None
    return text


Text = Annotated[str, AfterValidator(_writable)]
Password = Annotated[Text, Field(min_length=8, max_length=256, examples=["a long password"])]
Name = Annotated[Text, Field(min_length=1, max_length=64, examples=["Ana"])]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Registration(Body):
    name: Name
    password: Password


class Login(Body):
    name: Name
    password: Annotated[Text, Field(max_length=256, examples=["a long password"])]


class TableToOpen(Body):
    """``config`` whole, or a ``preset`` ("stud 2-4") with the fields beside it that differ."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"preset": "stud 2-4", "name": "Stud 2-4", "action_time_ms": 15000}]},
    )

    config: dict[str, Any] | None = None
    preset: Annotated[Text | None, Field(max_length=64, examples=["stud 2-4"])] = None


class Error(BaseModel):
    code: Annotated[str, Field(examples=["rate_limited"])]
    message: Annotated[str, Field(examples=["That was too much at once. Wait a moment and try again."])]


class Me(BaseModel):
    player_id: Annotated[str, Field(examples=["p_7f3k"])]
    name: Annotated[str, Field(examples=["Ana"])]
    role: Annotated[str, Field(examples=["player"])]


class Session(BaseModel):
    token: str
    expires_in: Annotated[int, Field(description="Seconds.", examples=[43200])]
    player: Me


class Balance(BaseModel):
    balance: Annotated[int, Field(description="Minor units.", examples=[100000])]


class Ticket(BaseModel):
    ticket: str
    expires_in: Annotated[int, Field(description="Seconds.", examples=[30])]


class LobbyRow(BaseModel):
    table_id: Annotated[str, Field(examples=["s00-k3f9x2"])]
    name: str
    game: Literal["draw", "stud"]
    status: Literal["none", "open", "paused", "closing", "closed", "frozen"]
    lower_limit: int
    upper_limit: int
    seats: int
    players: Annotated[int, Field(description="Seats taken.")]
    minimum_buy_in: int
    action_time_ms: int
    currency_unit: int
    average_pot: Annotated[int | None, Field(description="Of the last hands; null until there were some.")]
    hands_per_hour: int | None
    my_seat: int | None


class Tables(BaseModel):
    tables: list[LobbyRow]


class TableDetails(LobbyRow):
    config: dict[str, Any]


class OperatorCommand(Body):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"type": "UnfreezeTable", "void_hand": True}]}
    )

    type: Literal["PauseTable", "ResumeTable", "CloseTable", "ConfigureTable", "UnfreezeTable"]
    void_hand: Annotated[
        bool, Field(description="UnfreezeTable: every bet of the hand in play goes back, and the next one is dealt.")
    ] = False
    config: Annotated[dict[str, Any] | None, Field(description="ConfigureTable: whole.")] = None


class OperatedTable(BaseModel):
    table_id: str
    table: Annotated[dict[str, Any] | None, Field(description="Null when its log cannot be read.")] = None
    problem: str = ""


class TableLog(BaseModel):
    entries: list[dict[str, Any]]
    next: Annotated[int | None, Field(description="The `before` of the page before this one.")]


class Dead(BaseModel):
    dead: list[dict[str, Any]]


class OpenedTable(BaseModel):
    table_id: Annotated[str, Field(examples=["s00-k3f9x2"])]
    version: int


class Fairness(BaseModel):
    format: Annotated[str, Field(examples=["BRELAN-DEAL/1"])]
    dealer_keys: list[str]  # hexadecimal; the one in use first
