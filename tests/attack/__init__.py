"""The gateway as an attacker sees it: forged tokens, floods, malformed requests, other players' ids."""
