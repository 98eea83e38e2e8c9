// The table as a player sees it: seats around the oval, the middle, my hand; dock and side beside it.
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { Back, Face, cardWords } from "./cards.js";
import { Clock, beep } from "./clock.js";
import { Dock, SeatMenu, choicesOf, useRest } from "./controls.js";
import { HelpDialog, LeaveDialog, SitDialog, TopUpDialog } from "./dialogs.js";
import { choiceFor, useKeys } from "./keyboard.js";
import { Log } from "./log.js";
import { spot } from "./oval.js";
import { cardsOf, inHand, isDraw, myBestHand, myTurn, openTurn, places, playerAt, playing, postAskForMe, potTotal, seatAt, stackOf } from "./table_state.js";
import { balanceMoved } from "./api.js";
import { useTable } from "./socket.js";
import { say, sayRefusal, session, settings, useStore } from "./store.js";
import { handWords, money, t } from "./words.js";

const unitOf = (config) => config?.currency_unit ?? 100;

// --- a seat ---------------------------------------------------------------------------------------------------------

/** What stands on a seat's tag: the strongest thing to say about it. */
function tagOf(state, seat, player, unit) {
  if (player?.won) return ["win", t("table.wins", { amount: money(player.won, unit) })];
  if (seat?.reserved) return ["dim", t("seat.reserved")];
  if (player && state.hand.phase !== "over" && !player.folded) {
    if (player.protected) return ["allin", t("seat.protected")];
    if (player.all_in) return ["allin", t("seat.allIn")];
    if (player.did?.post) return ["dim", t("seat.blind." + player.did.post)];
    if (player.did?.kind && player.did.kind !== "bring_in") return ["", t("seat.did." + player.did.kind)];
    if (player.drew !== null && state.hand.phase === "drawing") return ["", drewWords(player)];
  }
  if (player?.mucked && !player.shown) return ["dim", t("seat.mucked")];
  if (seat?.leave_asked) return ["dim", t("seat.leaving")];
  if (player?.folded && state.hand.phase !== "over") return ["dim", t(player.did?.kind === "timeout" ? "seat.did.timeout" : "seat.folded")];
  if (seat?.away) return ["dim", t("seat.away")];
  if (seat?.sitting_out) return ["dim", t("seat.sittingOut")];
  if (state.postAgreed.includes(seat?.seat)) return ["", t("seat.in")];
  if (seat && !player && state.config.game === "draw" && seat.owes_big_blind) return ["dim", t("seat.waits")];
  return null;
}

const drewWords = (player) => (player.drew ? t("seat.drew", { n: player.drew }) : t("seat.pat"));

function Cards({ state, seat, mine, thrown, onThrow }) {
  const cards = cardsOf(state, seat);
  const look = (c) => `${c.down && state.config.game === "stud" ? "down" : "up"} ${c.plays ? "plays" : ""} ${c.idle ? "idle" : ""}`;
  return html`<div class=${`cards ${mine ? "large" : ""}`} data-testid=${mine ? "own-hand" : "hand"}>
    ${cards.map((c, i) => {
      if (c.card === null || c.card === undefined) return html`<${Back} key=${i} />`;
      if (!onThrow) return html`<${Face} key=${i} card=${c.card} state=${look(c)} />`;
      const gone = thrown.has(i);
      return html`<button key=${i} class="card" aria-pressed=${gone} data-testid=${"throw-" + (i + 1)} onClick=${() => onThrow(i)}
        aria-label=${t(gone ? "card.keep" : "card.throw", { card: cardWords(c.card) })}>
        <${Face} card=${c.card} state="up" /><span class="key" aria-hidden="true" data-text=${i + 1}></span></button>`;
    })}</div>`;
}

function Seat({ state, number, place, offsetMs, thrown, onThrow, onSit, sound }) {
  const unit = unitOf(state.config);
  const held = seatAt(state, number);
  const player = playerAt(state, number);
  const position = spot(place, state.seats.length);
  const style = Object.fromEntries(Object.entries(position).map(([name, value]) => ["--" + name, String(value)]));
  const mine = number === state.mySeat;
  if (!held && !player) {
    return html`<li class="seat empty" style=${style} data-testid=${"seat-" + number}>
      ${state.mySeat || state.status === "closed" || state.status === "closing"
        ? html`<span class="free">${t("table.empty")}</span>`
        : html`<button onClick=${() => onSit(number)} data-testid=${"sit-" + number} aria-label=${`${t("table.seat", { n: number })}: ${t("table.sitHere")}`}>
            ${t("table.sitHere")}</button>`}</li>`;
  }
  const name = held?.name ?? player.name;
  const stack = money(stackOf(state, number), unit);
  const tag = tagOf(state, held, player, unit);
  const turn = openTurn(state)?.seat === number ? openTurn(state) : null;
  const hand = state.hand;
  const dealt = hand && player ? hand.players.indexOf(player) + 1 : 0;
  const out = player ? (player.folded || player.mucked) && !player.shown : playing(state);
  const winner = !!player?.won;
  return html`<li class=${`seat ${mine ? "me" : ""} ${turn ? "turn" : ""} ${out ? "out" : ""} ${winner ? "winner" : ""}`}
      style=${style} data-testid=${"seat-" + number} data-name=${name} data-mine=${mine}
      aria-label=${t("seat.aria", { n: number, name, stack, extra: tag ? ", " + tag[1] : "" })}>
    <${Cards} state=${state} seat=${number} mine=${mine} thrown=${thrown} onThrow=${mine ? onThrow : null} />
    <div class="plate">
      ${turn
        ? html`<${Clock} deadlineMs=${turn.deadline_ms} wholeMs=${state.config.action_time_ms} offsetMs=${offsetMs}
            onHurry=${mine && sound ? beep : null} />`
        : html`<span class="medal" aria-hidden="true">${name.slice(0, 1).toUpperCase()}</span>`}
      ${hand?.phase !== "over" && dealt && state.config.game === "stud" && !player.folded
        ? html`<span class="order" title=${t("table.order", { n: dealt })} aria-hidden="true">${dealt}</span>` : null}
      <span class="name" title=${name}>${name}</span>
      <span class="stack" data-testid="stack" data-minor=${stackOf(state, number)}>${stack}${player?.drew !== null && player?.drew !== undefined && hand.phase !== "over" && !player.folded
        ? html`<span>${" · "}${drewWords(player)}</span>` : null}</span>
      ${tag ? html`<span class=${"tag " + tag[0]} data-testid="tag">${tag[1]}</span>` : null}
      ${hand?.bring_in === number && hand.street === 0 && hand.phase !== "over" ? html`<span class="tag mark-bring">${t("table.bringIn")}</span>` : null}
      ${hand?.button === number ? html`<span class="dealer" role="img" aria-label=${t("table.button")} data-testid="dealer-button">${t("table.button.letter")}</span>` : null}
    </div>
    ${player?.shown ? html`<p class="hand-name" data-testid="hand-name">${handWords(player.shown.category, player.shown.ranks)}</p>` : null}
    ${player?.bet ? html`<span class="bet" data-testid="bet" aria-label=${t("table.bet", { name, amount: money(player.bet, unit) })}>
      <i class="chip" aria-hidden="true"></i>${money(player.bet, unit)}</span>` : null}
  </li>`;
}

// --- the middle -----------------------------------------------------------------------------------------------------

const streetKey = (game, hand) => (hand.phase === "drawing" ? "table.street.draw.drawing" : `table.street.${game}.${hand.street}`);

function Centre({ state }) {
  const { hand, config } = state;
  const unit = unitOf(config);
  const over = !hand || hand.phase === "over";
  const total = potTotal(state);
  const street = !hand ? null : hand.phase === "showdown" || over ? (hand.players.some((p) => p.shown) ? t("table.showdown") : null)
    : hand.street >= 0 ? t(streetKey(config.game, hand)) : null;
  const sides = hand && !over && hand.pots.length > 1;
  return html`<div class="centre">
    ${street ? html`<p class="street" data-testid="street">${street}</p>` : null}
    ${total > 0 ? html`<p class="pot" data-testid="pot">${t("table.pot", { amount: money(total, unit) })}</p>` : null}
    ${sides ? html`<ul class="pots" data-testid="pots">${hand.pots.map((pot, i) => (hand.awarded.includes(i) ? null : html`<li key=${i}>
      ${i ? t("table.pot.side", { n: i, amount: money(pot.amount, unit) }) : t("table.pot.main", { amount: money(pot.amount, unit) })}</li>`))}</ul>` : null}
    ${hand?.community !== null && hand?.community !== undefined ? html`<div class="community" data-testid="community">
      <div class="cards"><${Face} card=${hand.community} /></div>${t("table.community")}</div>` : null}
  </div>`;
}

function Link({ link, pingMs }) {
  const words = link === "live" ? t("link.live", { ms: pingMs ?? "–" }) : t("link." + link);
  return html`<span class=${"light " + link} role="status" data-testid="link" data-link=${link} title=${words}>
    <i aria-hidden="true"></i><span class=${link === "live" ? "" : ""}>${link === "live" ? `${pingMs ?? "–"} ms` : words}</span></span>`;
}

/** What happened to me that no button of mine answers. */
function sayNews(events) {
  for (const event of events) {
    if (["SeatReleased", "TopUpDeclined"].includes(event.type) && event.reason) say(t("news." + event.type, { reason: event.reason }));
  }
}

// --- the page -------------------------------------------------------------------------------------------------------

export function TablePage({ id }) {
  const { state, link, pingMs, offsetMs, acting, send: ask } = useTable(id, sayNews);
  const { balance } = useStore(session);
  const { sound } = useStore(settings);
  const [dialog, setDialog] = useState(null);
  const [side, setSide] = useState(false);
  const [thrown, setThrown] = useState(new Set());

  const unit = unitOf(state.config);
  const turn = myTurn(state);
  const seat = seatAt(state, state.mySeat);
  const drawing = !!turn && isDraw(turn);
  useEffect(() => setThrown(new Set()), [turn?.turn_id, state.hand?.hand_id]);
  useEffect(balanceMoved, [state.mySeat, seat?.reserved, seat?.chips_waiting]);

  const title = (turn || postAskForMe(state) ? `● ${t("act.yours")} · ` : "") + (state.config?.name ?? t("room"));
  useEffect(() => { document.title = title; return () => { document.title = t("room"); }; }, [title]);

  /** Sends and says what was refused; answers the refusal, null when it was done. */
  const send = async (command) => {
    const refusal = await ask(command);
    if (refusal) sayRefusal(refusal);
    return refusal;
  };
  const choices = choicesOf(state, thrown, send, unit);
  const priced = choices.map((choice) => choice.kind + (choice.kind === "draw" ? "" : choice.words)).join() + (turn?.turn_id ?? "");
  const resting = useRest(priced) || acting;
  const onThrow = drawing ? (i) => setThrown((old) => {
    const next = new Set(old);
    if (!next.delete(i)) next.add(i);
    return next;
  }) : null;

  useKeys({
    act: (key, shift) => { if (!resting) choiceFor(choices, key, shift)?.run(); },
    card: (i) => { if (onThrow && i < cardsOf(state, state.mySeat).length) onThrow(i); },
    sit: () => {
      if (!seat) setDialog({ kind: "sit", seat: null });
      else send(seat.sitting_out || seat.sit_out_asked ? { type: "ComeBack", entry: seat.entry } : { type: "SitOut" });
    },
    help: () => setDialog({ kind: "help" }),
  });

  if (!state.config) {
    return html`<main class="page" id="main" tabindex="-1"><p class="notice plain">${t(link === "no_table" ? "link.no_table" : "loading")}</p><p><${Link} link=${link} pingMs=${pingMs} /></p></main>`;
  }
  const { config } = state;
  const close = () => setDialog(null);
  const closing = (command) => async () => ask(command).then((refusal) => { if (!refusal) close(); return refusal; });
  const made = myBestHand(state);
  const best = made && handWords(made.category, made.ranks);
  return html`<main class="at-table" id="main" tabindex="-1" data-testid="table-page" data-game=${config.game} data-phase=${state.hand?.phase ?? "none"}
      data-hand=${state.hand?.hand_id ?? ""} data-version=${state.version}>
    <section class="stage" aria-label=${config.name}>
      <div class="felt" aria-hidden="true"></div>
      <header class="table-head"><h1>${config.name}</h1>
        <span>${t("game." + config.game)} ${t("limits", { lower: money(config.lower_limit, unit), upper: money(config.upper_limit, unit) })}</span>
        ${state.hand ? html`<span data-testid="hand-number">${t("table.hand", { number: state.hand.number })}</span>` : null}
        <${Link} link=${link} pingMs=${pingMs} />
        ${["paused", "closing", "closed", "frozen"].includes(state.status) ? html`<span class="badge">${t("table." + state.status)}</span>` : null}
      </header>
      <button class="side-toggle" aria-expanded=${side} onClick=${() => setSide(!side)} aria-label=${t("me.menu")} data-testid="side-toggle">☰</button>
      <${Centre} state=${state} />
      <ul class="seats">
        ${places(state).map(({ seat: number, place }) => html`<${Seat} key=${number} state=${state} number=${number} place=${place}
          offsetMs=${offsetMs} thrown=${thrown} onThrow=${onThrow} sound=${sound} onSit=${(n) => setDialog({ kind: "sit", seat: n })} />`)}
      </ul>
    </section>
    <aside class=${`side ${side ? "open" : ""}`}>
      <button class="quiet shut" onClick=${() => setSide(false)} aria-label=${t("close")} data-testid="side-shut">✕</button>
      <${SeatMenu} state=${state} unit=${unit} send=${send} sound=${sound} onSound=${(on) => settings.set({ sound: on })}
        onTopUp=${() => setDialog({ kind: "topUp" })} onLeave=${() => setDialog({ kind: "leave" })} onHelp=${() => setDialog({ kind: "help" })} />
      <${Log} lines=${state.log} unit=${unit} />
    </aside>
    <${Dock} state=${state} choices=${choices} resting=${resting} unit=${unit} offsetMs=${offsetMs} best=${best} send=${send}
      onSit=${(n) => setDialog({ kind: "sit", seat: n })} />
    ${dialog?.kind === "sit" ? html`<${SitDialog} seat=${dialog.seat} config=${config} least=${config.minimum_buy_in} unit=${unit}
      start=${defaultBuyIn(config, balance)} balance=${balance} post=${config.game === "draw" ? config.lower_limit : null} onClose=${close}
      onSit=${(wish) => closing({ type: "SitDown", amount: wish.amount, entry: wish.entry, ...(wish.seat ? { seat: wish.seat } : {}) })()} />` : null}
    ${dialog?.kind === "topUp" && seat ? html`<${TopUpDialog} least=${config.minimum_buy_in} balance=${balance} unit=${unit} onClose=${close}
      onTopUp=${(amount) => closing({ type: "TopUp", amount })()} />` : null}
    ${dialog?.kind === "leave" && seat ? html`<${LeaveDialog} stack=${stackOf(state, state.mySeat)} playing=${inHand(state, state.mySeat)} unit=${unit}
      onClose=${close} onLeave=${() => { close(); send({ type: "Leave" }); }} />` : null}
    ${dialog?.kind === "help" ? html`<${HelpDialog} onClose=${close} />` : null}
  </main>`;
}

/** Twice the least, as far as the balance goes: enough for an evening at fixed limit. */
function defaultBuyIn(config, balance) {
  const wish = config.minimum_buy_in * 2;
  return balance === null || balance >= wish ? wish : Math.max(config.minimum_buy_in, Math.min(wish, balance));
}
