// Cards: four colours, and the suit also by its shape and its letter. The shapes are drawn here, not taken from a font,
// so that a heart is the same heart on every machine.
import { html } from "./vendor/htm-preact.js";
import { cardText } from "./cards_text.js";
import { t } from "./words.js";

export { cardText };

const SHAPES = {
  s: "M12 1.5C9.4 6 3 9.4 3 14.3c0 2.6 2 4.4 4.3 4.4 1.4 0 2.6-.7 3.4-1.8-.2 2.2-1 4-2.7 5.6h8c-1.7-1.6-2.5-3.4-2.7-5.6.8 1.1 2 1.8 3.4 1.8 2.3 0 4.3-1.8 4.3-4.4C21 9.4 14.6 6 12 1.5z",
  h: "M12 22C5.2 16.4 1.8 12.6 1.8 8.3 1.8 5.2 4.1 3 6.9 3 9 3 11 4.2 12 6.3 13 4.2 15 3 17.1 3c2.8 0 5.1 2.2 5.1 5.3 0 4.3-3.4 8.1-10.2 13.7z",
  d: "M12 1 21 12 12 23 3 12z",
  c: "M12 1.5a4.7 4.7 0 0 0-3.7 7.6A4.7 4.7 0 1 0 10.8 16.5c-.2 2.4-1.1 4.4-2.8 6h8c-1.7-1.6-2.6-3.6-2.8-6a4.7 4.7 0 1 0 2.5-7.4A4.7 4.7 0 0 0 12 1.5z",
};

/** What a screen reader says: "ten of hearts". */
export function cardWords(card) {
  const text = cardText(card);
  return t("card.of", { rank: t("rank." + text[0]), suit: t("suit." + text[1]) });
}

export const Suit = ({ suit }) => html`
  <svg class="suit" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${SHAPES[suit]} /></svg>`;

/** One card face up. What it shows is drawn by the style sheet; what it is called stands in its label. `state` is a list of extra classes: up, down, plays, idle, thrown. */
export function Face({ card, state = "", ...rest }) {
  const text = cardText(card);
  return html`<span class=${`card face suit-${text[1]} ${state}`} role="img" aria-label=${cardWords(text)}
      data-card=${text} data-testid="card" ...${rest}>
    <span class="corner" aria-hidden="true"><b data-text=${t("index." + text[0])}></b>
      <span class="mark"><${Suit} suit=${text[1]} /><i data-text=${t("letter." + text[1])}></i></span></span>
    <span class="pip" aria-hidden="true"><${Suit} suit=${text[1]} /></span>
  </span>`;
}

export const Back = ({ state = "", ...rest }) => html`
  <span class=${`card back ${state}`} role="img" aria-label=${t("card.hidden")} data-testid="card-back" ...${rest}></span>`;
