// The name of my own best hand while it is played, for my eyes: the room alone decides at showdown.
// D2, D3: in 7-A the ace also lies below the lowest rank of the deck; S14: standard in stud, below the deuce.
import { cardText } from "./cards_text.js";

const RANKS = "23456789TJQKA";
const ACE = 12;

/** {category, ranks} of the best hand in `cards` (one to seven), with `deckSize` 32, 36 or 52. */
export function handName(cards, deckSize) {
  const texts = cards.map(cardText);
  const ranks = texts.map((text) => RANKS.indexOf(text[0]));
  const flushSuit = [..."cdhs"].find((suit) => texts.filter((text) => text[1] === suit).length >= 5);
  const lowest = 13 - deckSize / 4;
  const named = (category, ...of) => ({ category, ranks: of.map((rank) => RANKS[rank]) });

  const suited = flushSuit ? ranks.filter((_, i) => texts[i][1] === flushSuit) : [];
  const straightFlush = topOfStraight(suited, lowest);
  if (straightFlush === ACE) return named("royal_flush");
  if (straightFlush !== null) return named("straight_flush", straightFlush);

  const count = (rank) => ranks.filter((other) => other === rank).length;
  const groups = [...new Set(ranks)].map((rank) => [count(rank), rank]).sort((a, b) => b[0] - a[0] || b[1] - a[1]);
  const [[most, first], [next, second] = [0, 0]] = groups;
  if (most === 4) return named("four_of_a_kind", first);
  if (flushSuit) return named("flush", Math.max(...suited)); // no full house beside it in five to seven cards
  if (most === 3 && next >= 2) return named("full_house", first, second);
  const straight = topOfStraight(ranks, lowest);
  if (straight !== null) return named("straight", straight);
  if (most === 3) return named("three_of_a_kind", first);
  if (most === 2 && next === 2) return named("two_pair", first, second);
  if (most === 2) return named("one_pair", first);
  return named("high_card", Math.max(...ranks));
}

function topOfStraight(ranks, lowest) {
  const has = new Set(ranks);
  for (let top = ACE; top >= lowest + 4; top--) if ([0, 1, 2, 3, 4].every((i) => has.has(top - i))) return top;
  return [ACE, lowest, lowest + 1, lowest + 2, lowest + 3].every((rank) => has.has(rank)) ? lowest + 3 : null;
}
