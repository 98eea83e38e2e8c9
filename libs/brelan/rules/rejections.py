"""Every refusal of the rules: its code and the sentence the player reads."""

from brelan.rules.state import Rejected

SENTENCES = {
    "table_exists": "This table is open already.",
    "bad_configuration": "This table cannot be opened like that: {detail}",
    "not_operator": "Only an operator may do that.",
    "table_closed": "This table is closed. Choose another in the lobby.",
    "table_closing": "This table closes after the hand. Choose another in the lobby.",
    "table_frozen": "This table is stopped until an operator has looked at it. Your chips are safe.",
    "not_frozen": "This table is not frozen.",
    "cannot_resume": "This table cannot go on as it is: {detail}. Void the hand, or close the table.",
    "already_seated": "You have a seat at this table already.",
    "not_seated": "You have no seat at this table.",
    "no_such_seat": "There is no such seat here. Choose one from 1 to {detail}.",
    "seat_taken": "That seat is taken. Choose another.",
    "table_full": "All seats are taken.",
    "buy_in_too_small": "The buy-in is too small: it has to be at least {detail}.",
    "buy_in_too_large": "Nobody buys that many chips at once: at most {detail}.",
    "brings_too_little": "You left this table less than an hour ago: bring at least the {detail} you left with.",
    "sitting_out_already": "You are sitting out already.",
    "leaving_already": "You are leaving already: after this hand.",
    "not_open": "This table is not open.",
    "not_paused": "This table is not paused.",
    "not_whole_chips": "The amount has to be a multiple of the smallest chip, {detail}.",
    "buy_in_pending": "Your buy-in is still under way.",
    "top_up_pending": "Your last top-up is still under way.",
    "not_your_turn": "It is not your turn.",
    "stale_turn": "Too late: that decision is no longer open.",
    "illegal_action": "You cannot do that now. Possible: {detail}.",
    "ambiguous_amount": "Say to what amount: {detail}.",
    "bad_positions": "Choose up to five different cards, numbered 0 to 4.",
    "nothing_to_choose": "There is nothing to choose now.",
    "not_sitting_out": "You are not sitting out.",
    "no_chips": "You have no chips left. Top up first.",
    "seed_due": "Give the seed that this hand waits for first.",
    "bad_key": "{detail}",
    "wrong_signature": "That is not the signature of the key your cards are dealt to.",
    "no_more_chains": "You have kept back too many seeds today. You play here without a chain until tomorrow.",
    "no_seed_due": "No seed of yours is waited for now.",
    "bad_seed": "A seed has 64 hexadecimal digits.",
    "wrong_seed": "That is not element {detail} of your chain of seeds.",
    "nothing_to_show": "You have no hand to show.",
    "internal_error": "The room could not handle that. It was noted; please try again.",
}


def rejected(code: str, detail: object = "") -> Rejected:
    return Rejected(code, SENTENCES[code].format(detail=detail))
