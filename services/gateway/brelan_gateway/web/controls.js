// The dock: what I can do now, with amounts, and what I need to know to decide. Only what the room listed is a button.
import { html, useEffect, useMemo, useState } from "./vendor/htm-preact.js";
import { buttonsOf, cardsOf, entryOpen, inHand, isDraw, myTurn, nameOf, playerAt, playing, postAskForMe, potTotal, priceToCall, seatAt,
  dealtElsewhere, showOfferedToMe } from "./table_state.js";
import { cardWords } from "./cards.js";
import { secondsLeft, useRoomNow } from "./clock.js";
import { lineText } from "./log.js";
import { money, t } from "./words.js";

const REST_MS = 300;
const touch = matchMedia("(pointer: coarse)").matches;

/** True for 300 ms after `key` changed: a click meant for the price before does not hit the new one. */
export function useRest(key) {
  const [rested, setRested] = useState(null);
  useEffect(() => {
    const timer = setTimeout(() => setRested(key), REST_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return rested !== key;
}

/** "Raise to 16", "Bet 10 (upper)", "Call 3, all-in". */
export function actionWords({ action, upper }, unit) {
  const amount = money(action.kind === "call" ? action.pay : action.to, unit);
  let words = t("act." + action.kind, { amount });
  if (upper) words = t("act.upper", { action: words });
  return action.all_in ? t("act.allIn", { action: words }) : words;
}

/** What I may do now: [{kind, words, key, run}], in the order of the buttons. The keyboard uses the same list. */
export function choicesOf(state, thrown, send, unit) {
  const ask = postAskForMe(state);
  const turn = myTurn(state);
  if (ask) {
    const answer = (kind) => () => send({ type: "Act", turn_id: ask.turn_id, kind });
    return [{ kind: "decline", words: t("act.decline"), key: "F", run: answer("decline") },
      { kind: "post", words: t("act.post"), key: "C", run: answer("post") }];
  }
  if (turn && isDraw(turn)) {
    const positions = [...thrown].sort();
    return [{ kind: "draw", words: positions.length ? t("act.draw", { n: positions.length }) : t("act.pat"), key: "D",
      run: () => send({ type: "Draw", turn_id: turn.turn_id, positions }) }];
  }
  if (turn) {
    const keys = { fold: "F", check: "C", call: "C", bring_in: "C", bet: "R", raise: "R", complete: "R" };
    return buttonsOf(turn).map(({ action, upper }) => ({
      kind: action.kind, upper, words: actionWords({ action, upper }, unit), key: (upper ? "⇧" : "") + keys[action.kind],
      run: () => send({ type: "Act", turn_id: turn.turn_id, kind: action.kind, to: action.to }) }));
  }
  if (showOfferedToMe(state)) {
    return [{ kind: "muck", words: t("act.muck"), key: "", run: () => send({ type: "Muck" }) },
      { kind: "show", words: t("act.show"), key: "", run: () => send({ type: "Show" }) }];
  }
  return [];
}

function raisesWords(turn) {
  if (!turn || isDraw(turn)) return null;
  if (turn.raises_left === null || turn.raises_left === undefined) return t("act.raisesLeft.unlimited");
  if (!turn.raises_left) return t("act.raisesLeft.none");
  const opens = turn.actions.some((a) => ["bet", "complete"].includes(a.kind)); // the first one of the round counts too
  return t(opens ? "act.betsLeft" : "act.raisesLeft", { n: turn.raises_left });
}

/** One sentence: what is going on, or what is asked of me. */
function Situation({ state, offsetMs }) {
  const seat = seatAt(state, state.mySeat);
  const turn = myTurn(state);
  const now = useRoomNow(offsetMs, 500, state.nextHandMs !== null);
  if (postAskForMe(state)) return t("act.post.ask");
  if (turn) return isDraw(turn) ? t(touch ? "act.draw.hint.touch" : "act.draw.hint") : t("act.yours");
  if (state.status === "frozen") return t("table.frozen");
  if (state.status === "closed") return t("table.closed");
  if (state.status === "paused" && !playing(state)) return t("table.paused");
  if (seat?.reserved) return t("table.waiting.funds");
  if (seat && seat.stack === 0 && !inHand(state, state.mySeat) && !seat.chips_waiting) return t("me.noChips");
  if (seat && !inHand(state, state.mySeat) && seat.owes_big_blind && !seat.sitting_out && state.config.game === "draw") {
    return t(seat.entry === "post" ? "table.waiting.post" : "table.waiting.bigBlind");
  }
  if (seat && playing(state) && !playerAt(state, state.mySeat) && !seat.sitting_out) return t("table.waiting.hand");
  if (state.turn) {
    return t(isDraw(state.turn) ? "table.waiting.draws" : "table.waiting.name", { name: nameOf(state, state.turn.seat) });
  }
  if (!seat) return t("table.observe");
  if (state.nextHandMs !== null && state.nextHandMs > now) {
    return t("table.waiting.next", { seconds: secondsLeft(state.nextHandMs, now) });
  }
  if (playing(state)) return t("table.waiting.dealer");
  return t("table.waiting.players");
}

/** My turn told to somebody who does not see the page: my cards, what I may do, how long. */
function spoken(state, choices, nowMs) {
  const wait = myTurn(state) ?? postAskForMe(state);
  if (!wait || !choices.length) return "";
  const cards = cardsOf(state, state.mySeat).map((c) => c.card).filter(Boolean).map(cardWords).join(", ");
  return t("act.yours.spoken", { cards, actions: choices.map((choice) => choice.words).join(", "),
    seconds: secondsLeft(wait.deadline_ms, nowMs) });
}

function Spoken({ state, choices, offsetMs }) {
  const wait = myTurn(state) ?? postAskForMe(state);
  const text = useMemo(() => spoken(state, choices, Date.now() + offsetMs), [wait?.turn_id]);
  return html`<p class="hidden-text" role="alert" data-testid="spoken">${text}</p>`;
}

export function Dock({ state, choices, resting, unit, offsetMs, best, send, onSit }) {
  const turn = myTurn(state);
  const seat = seatAt(state, state.mySeat);
  const price = priceToCall(state);
  const raises = raisesWords(turn);
  const pot = potTotal(state);
  return html`<section class=${`dock ${choices.length ? "asked" : ""}`} data-testid="dock" aria-label=${t("act.yours")}>
    <${Spoken} state=${state} choices=${choices} offsetMs=${offsetMs} />
    <div class="say">
      ${state.log.length ? html`<p class="last" role="status">${lineText(state.log.at(-1), unit)}</p>` : null}
      <p class="main" data-testid="situation"><${Situation} state=${state} offsetMs=${offsetMs} /></p>
      <p class="facts">
        ${price > 0 ? html`<span data-testid="price"><b>${t("table.price", { amount: money(price, unit) })}</b></span>` : null}
        ${pot > 0 ? html`<span>${t("table.pot", { amount: money(pot, unit) })}</span>` : null}
        ${raises ? html`<span data-testid="raises-left">${raises}</span>` : null}
        ${dealtElsewhere(state) ? html`<span class="best" data-testid="dealt-elsewhere">${t("table.dealtElsewhere")}</span>` : null}
        ${best ? html`<span class="best" data-testid="best-hand">${t("table.best", { hand: best })}</span>` : null}
      </p>
    </div>
    <div class="buttons">
      ${choices.map((choice) => html`<button key=${choice.kind + (choice.upper ? "-upper" : "")} disabled=${resting}
          class=${"act-" + choice.kind} data-testid=${"act-" + choice.kind + (choice.upper ? "-upper" : "")}
          onClick=${choice.run}><span>${choice.words}</span>${choice.key ? html`<kbd aria-hidden="true">${choice.key}</kbd>` : null}</button>`)}
      ${choices.length || state.mySeat ? null : html`<button class="primary" data-testid="sit-down" onClick=${() => onSit(null)}
          disabled=${state.seats.every(Boolean) || state.status === "closed" || state.status === "closing"}>${t("me.sitDown")}</button>`}
      ${!choices.length && seat?.sitting_out ? html`<button class="primary" data-testid="come-back"
          onClick=${() => send({ type: "ComeBack", entry: seat.entry })}>${t("me.comeBack")}</button>` : null}
      ${!choices.length && entryOpen(state) ? html`<button data-testid="choose-entry"
          onClick=${() => send({ type: "ChooseEntry", entry: seat.entry === "post" ? "wait" : "post" })}>
          ${seat.entry === "post" ? t("me.wait") : t("me.post", { amount: money(state.config.lower_limit, unit) })}</button>` : null}
    </div></section>`;
}

/** My seat: chips, sitting out, settings of this table, leaving. */
export function SeatMenu({ state, unit, send, onTopUp, onLeave, onHelp, sound, onSound }) {
  const seat = seatAt(state, state.mySeat);
  const [wish, setWish] = useState(null); // what was ticked, until the room has answered
  if (!seat) {
    return html`<div class="seat-menu"><p class="soft">${t("table.observe")}</p>
      <button class="quiet" onClick=${onHelp} data-testid="help">${t("help.title")} <kbd>?</kbd></button></div>`;
  }
  const preferences = { auto_post: seat.auto_post, auto_muck: seat.auto_muck, ...wish };
  const prefer = (name) => async (event) => {
    const wanted = { ...preferences, [name]: event.target.checked };
    setWish(wanted);
    await send({ type: "SetPreferences", ...wanted });
    setWish(null);
  };
  const toUp = (seat.top_up_asked ?? 0) + (seat.top_up_pending ?? 0) + seat.chips_waiting;
  return html`<div class="seat-menu" data-testid="seat-menu" aria-label=${t("me.menu")} role="group">
    <div class="pair">
      ${seat.sitting_out
        ? html`<button class="primary" data-testid="menu-come-back" onClick=${() => send({ type: "ComeBack", entry: seat.entry })}>${t("me.comeBack")}</button>`
        : html`<button data-testid="sit-out" aria-pressed=${seat.sit_out_asked} onClick=${() => send({ type: seat.sit_out_asked ? "ComeBack" : "SitOut" })}>${t(seat.sit_out_asked ? "me.sitOut.asked" : "me.sitOut")}</button>`}
      <button data-testid="top-up" onClick=${onTopUp}>${t("me.topUp")}</button>
      <button data-testid="leave" disabled=${seat.leave_asked} onClick=${onLeave}>${t(seat.leave_asked ? "me.leave.asked" : "me.leave")}</button>
      <button class="quiet" onClick=${onHelp} data-testid="help">${t("help.title")} <kbd>?</kbd></button>
    </div>
    ${toUp ? html`<p class="soft" data-testid="top-up-waiting">${t("me.topUp.waiting", { amount: money(toUp, unit) })}</p>` : null}
    <label class="choice"><input type="checkbox" checked=${preferences.auto_post} onChange=${prefer("auto_post")} data-testid="auto-post" />
      <span>${t("me.autoPost." + state.config.game)}</span></label>
    <label class="choice"><input type="checkbox" checked=${preferences.auto_muck} onChange=${prefer("auto_muck")} data-testid="auto-muck" />
      <span>${t("me.autoMuck")}</span></label>
    <label class="choice"><input type="checkbox" checked=${sound} onChange=${(e) => onSound(e.target.checked)} />
      <span>${t("me.sound")}</span></label>
  </div>`;
}
