// The client's model of a table: a pure fold of what the room sends, and what the page asks of it. No page, no socket,
// no clock in here, so that it can be tested in node. It mirrors the room's own fold (brelan.rules.evolve) as far as a
// player sees it. Nothing is ever guessed: what is legal comes with the turn.
import { handName } from "./best_hand.js";

const LOG_LIMIT = 400;
const STREETS = { draw: ["deal"], stud: ["third", "fourth", "fifth", "sixth", "river"] };

export function emptyTable() {
  return {
    tableId: "", epoch: 0, version: -1, config: null, status: "none",
    seats: [], hand: null, turn: null, postAsk: null, postAgreed: [], nextHandMs: null, showOffered: [],
    me: null, mySeat: null, // my player id, and where I sit
    myCards: null, // {hand_id, cards, up}: as dealt to me, the room's own shape
    myKey: "", mySealed: null, // this page's own key; my cards as they came, sealed to the key that counts in the hand
    lastBlinds: [null, null], // seats of the last hand's blinds, as far as we saw it
    handsPlayed: 0, log: [], logged: 0,
  };
}

/** A copy with `changes`; nothing here is ever changed in place. */
const having = (object, changes) => ({ ...object, ...changes });

const onSeat = (state, seat, change) =>
  having(state, { seats: state.seats.map((s, i) => (i === seat - 1 && s ? having(s, change(s)) : s)) });

const onPlayer = (state, seat, change) =>
  state.hand
    ? having(state, { hand: having(state.hand, {
        players: state.hand.players.map((p) => (p.seat === seat ? having(p, change(p)) : p)) }) })
    : state;

export const playerAt = (state, seat) => state.hand?.players.find((p) => p.seat === seat) ?? null;
export const seatAt = (state, seat) => (seat ? state.seats[seat - 1] ?? null : null);
/** Is a hand being played? The last one may still lie on the table. */
export const playing = (state) => !!state.hand && state.hand.phase !== "over";
export const inHand = (state, seat) => {
  const player = playerAt(state, seat);
  return !!player && !player.folded && playing(state);
};
export const nameOf = (state, seat) => playerAt(state, seat)?.name ?? seatAt(state, seat)?.name ?? `#${seat}`;

function logged(state, key, facts = {}) {
  const line = { id: state.logged + 1, key, ...facts };
  return having(state, { logged: line.id, log: [...state.log, line].slice(-LOG_LIMIT) });
}

const loggedBy = (state, key, seat, facts = {}) => logged(state, key, { seat, name: nameOf(state, seat), ...facts });

const emptySeat = (seat, playerId, name) => ({
  seat, player_id: playerId, name, stack: 0, reserved: 0, chips_waiting: 0, top_up_asked: 0, entry: "wait",
  owes_big_blind: false, owes_small_blind: false, sitting_out: false, sit_out_asked: false, away: false,
  leave_asked: false, auto_post: true, auto_muck: true, seed: "", seed_index: 0, hole_key: "",
});

const newPlayer = (p) => ({
  seat: p.seat, player_id: p.player_id, name: p.name, stack: p.stack, starting_stack: p.stack, put_in: 0, bet: 0,
  folded: false, all_in: false, protected: false, up: [], down: 0, drew: null, shown: null, mucked: false, hole_key: "",
  did: null, won: 0,
});

// --- the fold: one function for each event ------------------------------------------------------------------------

const folds = {
  TableOpened: (s, e) => having(s, { tableId: e.table_id, config: e.config, status: "open",
    seats: Array(e.config.seats).fill(null) }),
  TableConfigured: (s, e) => having(s, { nextConfig: e.config }),
  TablePaused: (s) => logged(having(s, { status: "paused", nextHandMs: null }), "TablePaused"),
  TableResumed: (s) => logged(having(s, { status: "open" }), "TableResumed"),
  TableClosing: (s) => having(s, { status: "closing", nextHandMs: null, postAsk: null, postAgreed: [] }),
  TableClosed: (s) => having(s, { status: "closed" }),
  TableFrozen: (s) => having(s, { status: "frozen" }),
  TableUnfrozen: (s) => having(s, { status: "open" }),
  OutageEnded: (s, e) => {
    const longer = (wait) => (wait ? having(wait, { deadline_ms: e.to_ms + s.config.action_time_ms }) : null);
    const hand = s.hand?.seeds_asked?.length ? having(s.hand, { seeds_due_ms: e.to_ms + s.config.action_time_ms }) : s.hand;
    return logged(having(s, { hand, turn: longer(s.turn), postAsk: longer(s.postAsk),
      nextHandMs: s.nextHandMs === null ? null : e.to_ms + s.config.hand_pause_ms }), "OutageEnded");
  },

  SeatReserved: (s, e) => having(s, { mySeat: e.player_id === s.me ? e.seat : s.mySeat,
    seats: s.seats.map((seat, i) => (i === e.seat - 1
      ? having(emptySeat(e.seat, e.player_id, e.name), { reserved: e.amount, entry: e.entry, owes_big_blind: s.config.game === "draw" }) : seat)) }),
  SeatReleased: (s, e) => freed(s, e.seat),
  PlayerSeated: (s, e) => {
    const amount = seatAt(s, e.seat)?.reserved ?? 0;
    return loggedBy(onSeat(s, e.seat, () => ({ stack: amount, reserved: 0 })), "PlayerSeated", e.seat, { amount });
  },
  TopUpAsked: (s, e) => onSeat(s, e.seat, () => ({ top_up_asked: e.amount })),
  TopUpRequested: (s, e) => onSeat(s, e.seat, () => ({ top_up_asked: 0, top_up_pending: e.amount })),
  TopUpFunded: (s, e) => onSeat(s, e.seat, (seat) => ({ top_up_pending: 0, chips_waiting: seat.chips_waiting + e.amount })),
  TopUpDeclined: (s, e) => onSeat(s, e.seat, () => ({ top_up_pending: 0 })),
  ChipsAdded: (s, e) => loggedBy(onSeat(s, e.seat, (seat) => ({ stack: seat.stack + e.amount,
    chips_waiting: Math.max(0, seat.chips_waiting - e.amount) })), "ChipsAdded", e.seat, { amount: e.amount }),
  PreferencesSet: (s, e) => onSeat(s, e.seat, () => ({ auto_post: e.auto_post, auto_muck: e.auto_muck })),
  SeedsBrought: (s, e) => onSeat(s, e.seat, () => ({ seed: e.tip, seed_index: 0 })),
  KeyBrought: (s, e) => {
    const told = onSeat(s, e.seat, () => ({ hole_key: e.hole_key }));
    const now = e.hand_id && e.hand_id === s.hand?.hand_id;
    const next = now ? onPlayer(told, e.seat, () => ({ hole_key: e.hole_key })) : told;
    if (e.hole_key !== s.myKey) return logged(next, now ? "KeyBrought.elsewhere" : "KeyBrought.elsewhereNext");
    return !now && inHand(s, e.seat) ? logged(next, "KeyBrought.hereNext") : next;
  },
  SitOutAsked: (s, e) => onSeat(s, e.seat, () => ({ sit_out_asked: true })),
  SatOut: (s, e) => loggedBy(onSeat(answered(s, e.seat), e.seat, () => ({ sitting_out: true, sit_out_asked: false, away: false })),
    e.reason === "withheld_seed" ? "SatOut.withheld_seed" : "SatOut", e.seat),
  CameBack: (s, e) => loggedBy(onSeat(s, e.seat, () => ({ sitting_out: false, sit_out_asked: false, away: false,
    entry: e.entry })), "CameBack", e.seat),
  EntryChosen: (s, e) => onSeat(s, e.seat, () => ({ entry: e.entry })),
  LeaveAsked: (s, e) => onSeat(s, e.seat, () => ({ leave_asked: true })),
  PlayerLeft: (s, e) => freed(offerTaken(answered(loggedBy(s, "PlayerLeft", e.seat), e.seat), e.seat), e.seat),

  NextHandScheduled: (s, e) => having(s, { nextHandMs: e.at_ms || null, postAsk: null, postAgreed: [] }), // 0: not to be dealt now
  PostAsked: (s, e) => having(s, { postAsk: { turn_id: e.turn_id, seats: e.seats, deadline_ms: e.deadline_ms }, nextHandMs: null }),
  PostAgreed: (s, e) => having(answered(s, e.seat), { postAgreed: [...s.postAgreed, e.seat] }),

  HandStarted: (s, e) => {
    const hand = {
      hand_id: e.hand_id, number: e.number, deck_size: e.deck_size,
      players: e.players.map((p) => having(newPlayer(p), { hole_key: p.player_id === s.me ? seatAt(s, p.seat)?.hole_key ?? "" : "" })),
      button: e.button ?? null, small_blind: e.small_blind ?? null, big_blind: e.big_blind ?? null,
      before: { lastBlinds: s.lastBlinds, owed: s.seats.map((seat) => seat && [seat.player_id, seat.owes_big_blind, seat.owes_small_blind]) },
      committed: null, seeds: [], seeds_asked: [], seeds_due_ms: 0,
      phase: "posting", street: 0, bring_in: null, community: null, pots: [], awarded: [],
      price: s.config.game === "draw" ? s.config.lower_limit : 0, // the big blind, even when it is short (D6)
    };
    const log = s.log.slice(Math.max(0, s.log.findLastIndex((line) => line.key === "HandStarted"))); // the last hand stays to be read
    const seats = blindsPassed(s, hand);
    return logged(having(s, { hand, seats, lastBlinds: [hand.small_blind, hand.big_blind], turn: null, postAsk: null, postAgreed: [], nextHandMs: null, showOffered: [], myCards: null, mySealed: null,
      config: s.nextConfig ?? s.config, nextConfig: null, log }), "HandStarted",
      { number: e.number, players: e.players.length, deck: e.deck_size });
  },
  Posted: (s, e) => {
    const dead = e.kind === "ante" || e.kind === "dead_small_blind";
    const next = onPlayer(s, e.seat, (p) => ({ stack: p.stack - e.amount, put_in: p.put_in + e.amount,
      bet: dead ? p.bet : p.bet + e.amount, all_in: p.stack === e.amount, did: e.kind === "ante" ? null : { post: e.kind } }));
    const last = s.log.at(-1);
    if (e.kind === "ante" && last?.key === "antes") {
      return having(next, { log: [...s.log.slice(0, -1), having(last, { amount: last.amount + e.amount })] });
    }
    if (e.kind === "ante") return logged(next, "antes", { amount: e.amount });
    return loggedBy(priced(next), "Posted." + e.kind, e.seat, { amount: e.amount });
  },
  DeckCommitted: (s, e) => having(s, { hand: having(s.hand, { phase: "seeding", committed: e }) }),
  SeedsAsked: (s, e) => having(s, { hand: having(s.hand, { seeds_asked: e.seats, seeds_due_ms: e.deadline_ms }) }),
  SeedGiven: (s, e) => {
    const index = (seatAt(s, e.seat)?.seed_index ?? 0) + 1;
    const seeds_asked = without(s.hand.seeds_asked, e.seat);
    return having(onSeat(s, e.seat, () => ({ seed: e.element, seed_index: index })), { hand: having(s.hand, {
      seeds: [...s.hand.seeds, { seat: e.seat, index, element: e.element }], seeds_asked,
      seeds_due_ms: seeds_asked.length ? s.hand.seeds_due_ms : 0 }) });
  },
  SeedsWithheld: (s, e) => e.seats.reduce((state, seat) => onSeat(state, seat, () => ({ seed: "", seed_index: 0 })), s),
  CardsDealt: (s, e) => {
    const stud = s.config.game === "stud";
    const street = stud ? STREETS.stud.indexOf(e.street) : 0;
    let next = having(s, { hand: having(s.hand, { phase: "betting", street, community: e.community ?? s.hand.community,
      players: s.hand.players.map((p) => having(p, { did: p.folded || (street === 0 && !stud) ? p.did : null })) }) });
    for (const { seat, down, up } of e.cards) {
      next = onPlayer(next, seat, (p) => ({ down: p.down + down, up: [...p.up, ...(up ?? [])] }));
    }
    next = logged(next, "street", { game: s.config.game, street });
    for (const { seat, up } of e.cards) if (up?.length) next = loggedBy(next, "upCards", seat, { cards: playerAt(next, seat).up });
    if (e.community != null) next = logged(next, "community", { cards: [e.community] });
    return e.reshuffled ? logged(next, "reshuffled") : next;
  },
  TurnOpened: (s, e) => {
    const turn = { turn_id: e.turn_id, seat: e.seat, deadline_ms: e.deadline_ms, actions: e.actions, raises_left: e.raises_left };
    const drawing = isDraw(e);
    const hand = having(s.hand, { phase: drawing ? "drawing" : "betting",
      bring_in: e.actions.some((a) => a.kind === "bring_in") ? e.seat : s.hand.bring_in });
    const next = having(s, { turn, hand });
    return drawing && s.hand.phase !== "drawing" ? logged(next, "street", { game: "draw", street: "drawing" }) : next;
  },
  Folded: (s, e) => loggedBy(acted(s, e.seat, { folded: true, did: { kind: "fold" } }),
    e.cause === "time" ? "Folded.time" : e.cause === "left" ? "Folded.left" : "Folded", e.seat),
  Checked: (s, e) => loggedBy(acted(s, e.seat, { did: { kind: "check" } }), "Checked", e.seat),
  BetPlaced: (s, e) => {
    const { stack, put_in } = playerAt(s, e.seat) ?? { stack: 0, put_in: 0 };
    const next = priced(acted(s, e.seat, { stack: stack - e.pay, put_in: put_in + e.pay, bet: e.to,
      all_in: !!e.all_in, did: { kind: e.kind } }));
    // a short bring-in leaves the others owing the whole one (S13)
    const bringIn = e.kind === "bring_in" ? having(next, { hand: having(next.hand, { bring_in: e.seat, price: s.config.bring_in }) }) : next;
    const told = loggedBy(bringIn, "BetPlaced." + e.kind, e.seat, { amount: e.pay, to: e.to });
    return e.all_in ? loggedBy(told, "allIn", e.seat) : told;
  },
  TimedOut: (s, e) => loggedBy(onSeat(acted(s, e.seat, { did: { kind: "timeout" } }), e.seat, () => ({ away: true })), "TimedOut", e.seat),
  AllInByTime: (s, e) => loggedBy(acted(s, e.seat, { all_in: true, protected: true }), "AllInByTime", e.seat),
  DrawChosen: (s, e) => {
    const next = loggedBy(acted(s, e.seat, { drew: e.count }), e.count ? "DrawChosen" : "DrawChosen.pat", e.seat, { n: e.count });
    return e.count ? next : drawnBy(next);
  },
  CardsDrawn: (s, e) => drawnBy(e.reshuffled ? logged(s, "reshuffled") : s),
  BetReturned: (s, e) => loggedBy(onPlayer(s, e.seat, (p) => ({ stack: p.stack + e.amount, put_in: p.put_in - e.amount,
    bet: Math.max(0, p.bet - e.amount), all_in: p.protected })), "BetReturned", e.seat, { amount: e.amount }),
  PotsFormed: (s, e) => {
    const next = having(s, { turn: null, hand: having(s.hand, { pots: e.pots, price: 0,
      players: s.hand.players.map((p) => having(p, { bet: 0, did: null })) }) });
    return e.pots.length > 1 ? logged(next, "pots", { amounts: e.pots.map((pot) => pot.amount) }) : next;
  },
  ShowdownRequested: (s) => having(s, { turn: null, hand: having(s.hand, { phase: "showdown" }) }),
  ShowdownResolved: (s, e) => e.hands.reduce((state, hand) => shown(state, hand),
    having(s, { hand: having(s.hand, { phase: "showdown" }) })),
  HandShown: (s, e) => shown(offerTaken(s, e.hand.seat), e.hand),
  HandMucked: (s, e) => loggedBy(onPlayer(offerTaken(s, e.seat), e.seat, () => ({ mucked: true })), "HandMucked", e.seat),
  PotAwarded: (s, e) => {
    let next = having(s, { turn: null, hand: having(s.hand, { awarded: [...s.hand.awarded, e.pot] }) });
    for (const { seat, amount } of e.shares) {
      next = onPlayer(next, seat, (p) => ({ stack: p.stack + amount, won: p.won + amount }));
      next = loggedBy(next, e.pot ? "PotAwarded.side" : "PotAwarded", seat, { amount, n: e.pot });
    }
    return next;
  },
  HandEnded: (s, e) => finished(s, e.stacks),
  HandVoided: (s, e) => logged(finished(undealt(s), e.stacks), "HandVoided", { reason: e.reason }),
  ShowOffered: (s, e) => having(s, { showOffered: e.seats }),
};

const freed = (state, seat) => having(state, {
  hand: state.hand?.before ? having(state.hand, { before: having(state.hand.before, { // who comes back to it is new (D13)
    owed: state.hand.before.owed.map((owed, i) => (i === seat - 1 ? null : owed)) }) }) : state.hand,
  seats: state.seats.map((s, i) => (i === seat - 1 ? null : s)),
  mySeat: state.mySeat === seat ? null : state.mySeat,
});

/** The draw is over when the last one has his cards: the second round begins. */
const drawnBy = (state) => (state.hand.players.every((p) => p.folded || p.drew !== null)
  ? logged(having(state, { hand: having(state.hand, { street: 1, phase: "betting" }) }), "street", { game: "draw", street: 1 })
  : state);

const without = (seats, seat) => seats.filter((other) => other !== seat);

/** The "are you in?" put to this seat is answered, or is put no longer. */
const answered = (state, seat) => having(state, { postAgreed: without(state.postAgreed, seat),
  postAsk: state.postAsk && having(state.postAsk, { seats: without(state.postAsk.seats, seat) }) });

/** D14: who is dealt in owes nothing any more; who sits out and is passed over by a blind owes it. */
function blindsPassed(state, hand) {
  const [small, big] = state.lastBlinds;
  const dealtIn = new Set(hand.players.map((p) => p.seat));
  const between = (seat, first, last) => {
    if (first === null || last === null || first === last) return false;
    const ahead = (other) => (other - first + state.seats.length) % state.seats.length;
    return ahead(seat) > 0 && ahead(seat) < ahead(last);
  };
  return state.seats.map((seat) => {
    if (!seat || seat.reserved) return seat;
    if (dealtIn.has(seat.seat)) return having(seat, { owes_big_blind: false, owes_small_blind: false });
    if (!seat.sitting_out) return seat;
    return having(seat, { owes_big_blind: seat.owes_big_blind || between(seat.seat, big, hand.big_blind),
      owes_small_blind: seat.owes_small_blind || between(seat.seat, small, hand.small_blind) });
  });
}

/** Somebody did something: his turn is over. */
const acted = (state, seat, changes) => onPlayer(
  state.turn?.seat === seat ? having(state, { turn: null }) : state, seat, () => changes);

const priced = (state) => having(state, { hand: state.hand && having(state.hand, {
  price: Math.max(state.hand.price, ...state.hand.players.map((p) => p.bet)) }) });

const offerTaken = (state, seat) => having(state, { showOffered: without(state.showOffered, seat) });

const shown = (state, hand) => {
  if (playerAt(state, hand.seat)?.shown) return state;
  return loggedBy(onPlayer(state, hand.seat, () => ({ shown: hand })), "shown", hand.seat,
    { cards: hand.cards, category: hand.category, ranks: hand.ranks ?? [] });
};

/** A hand that is called off was never dealt: who owed a blind owes it still. Begun before this page saw it: as the room tells. */
function undealt(state) {
  const before = state.hand?.before;
  if (!before) return state;
  return having(state, { lastBlinds: before.lastBlinds, seats: state.seats.map((seat, i) => {
    const [player_id, owes_big_blind, owes_small_blind] = before.owed[i] ?? [];
    return seat && seat.player_id === player_id ? having(seat, { owes_big_blind, owes_small_blind }) : seat;
  }) });
}

/** The hand is over; it stays on the table, face up as it was, until the next one starts. */
const finished = (state, stacks) => {
  const next = having(state, { turn: null, handsPlayed: state.handsPlayed + 1, hand: state.hand && having(state.hand, {
    phase: "over", players: state.hand.players.map((p) => having(p, {
      stack: stacks.find((share) => share.seat === p.seat)?.amount ?? p.stack, bet: 0 })) }) });
  return stacks.reduce((s, share) => onSeat(s, share.seat, () => ({ stack: share.amount })), next);
};

/** One event folded in. One this page does not know changes nothing: newer rooms may tell more. */
export function evolve(state, event) {
  const fold = folds[event.type];
  return fold ? fold(state, event) : state;
}

/** A message of the socket folded in: snapshot, resumed or events. The same state when it is old; null when versions are
 * missing in between, so that the socket must be taken up again. */
export function receive(state, message) {
  switch (message.type) {
    case "snapshot": // a gateway that is behind tells what we know better
      return message.version < state.version && message.epoch <= state.epoch ? state : fromSnapshot(state, message);
    case "resumed": return having(state, { me: message.you.player_id, mySeat: message.you.seat, epoch: message.epoch });
    case "events": {
      if (message.version <= state.version && message.epoch <= state.epoch) return state;
      if (message.version !== state.version + 1) return null;
      const begun = message.epoch === state.epoch ? state // a chain of seeds holds for one epoch
        : having(state, { seats: state.seats.map((seat) => seat && having(seat, { seed: "", seed_index: 0 })) });
      const next = message.events.reduce((s, event) => evolve(s, event), begun);
      return having(next, { version: message.version, epoch: message.epoch,
        myCards: message.cards === undefined ? next.myCards : message.cards,
        mySealed: message.sealed === undefined ? next.mySealed : message.sealed });
    }
    default: return state;
  }
}

/** All of the table as the room tells it; the log of what we saw is kept. */
function fromSnapshot(state, { version, epoch, table, you, cards, sealed }) {
  return having(emptyTable(), {
    tableId: table.table_id, version, epoch, config: table.config, nextConfig: table.next_config, status: table.status,
    seats: table.seats.map((seat) => seat && having(emptySeat(seat.seat, seat.player_id, seat.name), seat)),
    lastBlinds: table.hand ? [table.hand.small_blind, table.hand.big_blind] : [null, null],
    hand: table.hand && having(table.hand, { awarded: [], players: table.hand.players.map((p) => having({ hole_key: "" }, { ...p, did: null, won: 0 })) }),
    turn: table.turn, postAsk: table.post_ask, postAgreed: table.post_ask?.agreed ?? [], nextHandMs: table.next_hand_ms, showOffered: table.show_offered,
    handsPlayed: table.hands_played, me: you.player_id, mySeat: you.seat, myCards: cards, myKey: state.myKey, mySealed: sealed ?? null,
    log: state.log, logged: state.logged,
  });
}

/** My cards, opened: `sealed` is what they came in. Null: they are dealt to another device of mine. */
export const opened = (state, sealed, cards) => (state.mySealed === sealed ? having(state, { myCards: cards }) : state);

/** Are my cards of this hand sealed to a key that this page does not have? */
export const dealtElsewhere = (state) => {
  const player = playerAt(state, state.mySeat);
  return playing(state) && !!player?.hole_key && !player.folded && player.down + player.up.length > 0 && player.hole_key !== state.myKey;
};

// --- what the page asks ---------------------------------------------------------------------------------------------

/** Chips of `seat` in front of the player: the hand's figure while he is in one. */
export function stackOf(state, seat) {
  const player = playerAt(state, seat);
  const held = seatAt(state, seat);
  if (player && held && player.player_id === held.player_id && playing(state)) return player.stack;
  return held?.stack ?? player?.stack ?? 0;
}

/** All chips that are in the middle: pots and bets. */
export const potTotal = (state) => (playing(state)
  ? state.hand.players.reduce((sum, p) => sum + p.put_in - p.won, 0) : 0);

export const myTurn = (state) => (openTurn(state)?.seat === state.mySeat ? openTurn(state) : null);

/** Whose turn it is, unless the table is held for an operator: then no clock runs and nobody is asked. */
export const openTurn = (state) => (state.status === "frozen" ? null : state.turn);

/** Is this turn one to draw cards, not to bet? */
export const isDraw = (turn) => turn.actions.some((a) => a.kind === "draw");

/** What it costs me to stay in: 0 when nothing does. */
export function priceToCall(state) {
  const turn = myTurn(state);
  const call = turn?.actions.find((a) => a.kind === "call");
  if (turn) return call ? call.pay : 0;
  const player = playerAt(state, state.mySeat);
  if (!player || player.folded || player.all_in || state.hand.phase !== "betting") return 0;
  return Math.max(0, Math.min(player.stack, state.hand.price - player.bet));
}

/** The S2 question, when it is put to me and not answered. */
export const postAskForMe = (state) =>
  (state.status !== "frozen" && state.postAsk?.seats.includes(state.mySeat) ? state.postAsk : null);

/** May I show or muck what I held (H2, H3)? */
export const showOfferedToMe = (state) => {
  const player = playerAt(state, state.mySeat);
  return state.showOffered.includes(state.mySeat) && !!player && !player.shown && !player.mucked;
};

/** D13, D14: seated at a draw table, not dealt in, and a choice of how to come in is open. */
export const entryOpen = (state) => {
  const seat = seatAt(state, state.mySeat);
  return state.config?.game === "draw" && !!seat && !seat.sitting_out && !seat.reserved && seat.owes_big_blind
    && !inHand(state, state.mySeat);
};

const UPPER_KINDS = new Set(["bet", "raise", "complete"]);

/** The turn's actions as buttons, in the order fold, check or call, bet or raise. S9's second amount is `upper`. */
export function buttonsOf(turn) {
  const place = { fold: 0, check: 1, call: 1, bring_in: 1, bet: 2, complete: 2, raise: 2 };
  const acts = turn.actions.filter((a) => a.kind in place);
  return acts
    .map((action) => ({ action, upper: UPPER_KINDS.has(action.kind)
      && acts.some((other) => other.kind === action.kind && other.to < action.to) }))
    .sort((a, b) => place[a.action.kind] - place[b.action.kind] || a.action.to - b.action.to);
}

/** Cards of a seat as the page lays them: [{card | null, down, plays, idle}], in dealing order where it is known. */
export function cardsOf(state, seat) {
  const player = playerAt(state, seat);
  if (!player) return [];
  const mine = seat === state.mySeat && state.myCards?.hand_id === state.hand.hand_id;
  if ((player.folded || player.mucked) && !player.shown && !mine) return [];
  const game = state.config.game;
  const order = layout(game, player);
  if (player.shown) {
    const best = new Set(player.shown.best);
    const idle = player.shown.cards.length > best.size; // otherwise all of them play
    return player.shown.cards.map((card, i) => ({ card, down: order[i] === "down", plays: idle && best.has(card), idle: idle && !best.has(card) }));
  }
  if (mine) return state.myCards.cards.map((card, i) => ({ card, down: !state.myCards.up[i] }));
  const ups = [...player.up];
  return order.map((side) => (side === "up" ? { card: ups.shift(), down: false } : { card: null, down: true }));
}

/** The category and ranks of my own best hand so far; null when I have none. */
export function myBestHand(state) {
  const player = playerAt(state, state.mySeat);
  if (!player || player.shown || state.myCards?.hand_id !== state.hand.hand_id) return null;
  const cards = cardsOf(state, state.mySeat).map((c) => c.card).filter((card) => card !== null && card !== undefined);
  if (state.hand.community !== null) cards.push(state.hand.community);
  return cards.length ? handName(cards, state.hand.deck_size) : null;
}

/** Which of a player's cards lie up and which down, as dealt: two down, the up cards, the river down (S3, S6). */
function layout(game, player) {
  if (game === "draw") return Array(player.down).fill("down");
  const first = Math.min(2, player.down);
  return [...Array(first).fill("down"), ...player.up.map(() => "up"), ...Array(player.down - first).fill("down")];
}

/** Where each seat lies around the oval: 0 is the bottom, mine when I sit, then clockwise. */
export function places(state) {
  const count = state.seats.length;
  const first = state.mySeat ?? 1;
  return state.seats.map((_, i) => ({ seat: i + 1, place: (i + 1 - first + count) % count }));
}
