// The hand told in sentences, newest last; read aloud as it grows.
import { html } from "./vendor/htm-preact.js";
import { Suit, cardText, cardWords } from "./cards.js";
import { handWords, money, t } from "./words.js";

/** A line of the model's log as text with card places: [{text} | {card}]. */
export function lineParts(line, unit) {
  const holes = { ...line };
  for (const name of ["amount", "to"]) if (name in line) holes[name] = money(line[name], unit);
  if (line.amounts) holes.pots = line.amounts.map((amount) => money(amount, unit)).join(" + ");
  if (line.category) holes.hand = handWords(line.category, line.ranks);
  if (line.cards) holes.cards = holes.card = "\u0001";
  if (line.key === "street") holes.street = t(`table.street.${line.game}.${line.street}`);
  const text = t("log." + line.key, holes);
  return text.split("\u0001").flatMap((part, i) => (i ? [...line.cards.map((card) => ({ card })), { text: part }] : [{ text: part }]));
}

export const lineText = (line, unit) => lineParts(line, unit)
  .map((part, i, parts) => (part.card === undefined ? part.text : cardWords(part.card) + (parts[i + 1]?.card === undefined ? "" : ", ")))
  .join("");

const Mini = ({ card }) => {
  const text = cardText(card);
  return html`<span class=${`mini suit-${text[1]}`}><span class="hidden-text">${cardWords(text)} </span>
    <span aria-hidden="true">${t("index." + text[0])}<${Suit} suit=${text[1]} /></span></span>`;
};

/** The newest line stays in sight by the box's own direction (column-reverse), until somebody scrolls up to read. */
export function Log({ lines, unit }) {
  return html`<section class="log" aria-label=${t("log.title")}>
    <h2>${t("log.title")}</h2>
    ${lines.length ? null : html`<p class="soft">${t("log.empty")}</p>`}
    <div class="lines" tabindex="0" role="log" aria-live="polite" aria-relevant="additions" aria-label=${t("log.title")}><ol data-testid="log">
      ${lines.map((line) => html`<li key=${line.id} data-event=${line.key}
          class=${line.key === "HandStarted" ? "start" : line.key === "street" ? "street" : ""}>
        ${lineParts(line, unit).map((part) => (part.card === undefined ? part.text : html`<${Mini} card=${part.card} />`))}
      </li>`)}
    </ol></div></section>`;
}
