// Cards as text, without drawing anything.
const RANKS = "23456789TJQKA";
const SUITS = "cdhs";

/** A card as text ("Th"), whether it came as text or as the room's integer (4 * rank + suit). */
export const cardText = (card) => (typeof card === "number" ? RANKS[card >> 2] + SUITS[card & 3] : card);
