// My seeds for the deal (docs/fairness.md): a hash chain of this browser's own, its tip brought when I sit down, its next
// element given for every hand once the dealer has signed the deck. Kept in this browser, so that a reload, or another tab
// at the same table, goes on with it. Without WebCrypto (a page that is not secure) I bring none, and play all the same.
import { commitmentHash, isCommitted, sha256, toHex } from "./verify_deal.js";
import { seatAt } from "./table_state.js";

const LENGTH = 500; // hands
const REMEMBERED = 200; // hands whose seed is known here still
const MEMORY = "brelan.deals";

const read = (store, key) => { try { return JSON.parse(store.getItem(key)); } catch { return null; } };

/** What this browser answered in a hand: {answered, element}; undefined when it gave nothing, or has forgotten. */
export const rememberedDeal = (handId) => (read(localStorage, MEMORY) ?? {})[handId];

function remember(handId, given) {
  const all = Object.entries({ ...(read(localStorage, MEMORY) ?? {}), [handId]: given });
  localStorage.setItem(MEMORY, JSON.stringify(Object.fromEntries(all.slice(-REMEMBERED))));
}

export class Seeds {
  constructor(tableId) {
    Object.assign(this, { tableId, elements: null, secret: null, epoch: null, used: 0, broughtAt: null });
  }

  /** The command that is due now, or null. Asked after every message, one question at a time. */
  async due(state) {
    const mine = seatAt(state, state.mySeat);
    if (!globalThis.crypto?.subtle || !mine) return null;
    const locks = globalThis.navigator?.locks; // so that two tabs do not bring two chains at once
    const decide = () => this.#decide(state, mine);
    return locks ? locks.request(`brelan.seeds.${state.me}.${this.tableId}`, decide) : decide();
  }

  async #decide(state, mine) {
    await this.#load(state.me);
    if (state.hand?.seeds_asked?.includes(mine.seat)) return this.#give(state, mine);
    const left = this.elements && this.epoch === state.epoch && this.used + 1 < this.elements.length;
    const at = state.hand && state.hand.phase !== "over" ? state.hand.hand_id : "";
    if (left && mine.seed) this.broughtAt = null;
    if (left && (mine.seed || this.broughtAt === at)) return null; // the room has it, it is on the way, or was refused
    if (!left || this.used) await this.#newChain(state.epoch);
    this.broughtAt = at; // not heard of it until the next hand: it is brought again
    return { type: "BringSeeds", tip: this.elements[0] };
  }

  async #load(me) {
    this.key = `brelan.seeds.${me}.${this.tableId}`;
    const kept = read(localStorage, this.key);
    if (!kept) return;
    if (kept.secret !== this.secret || !this.elements) this.elements = await chain(kept.secret);
    Object.assign(this, kept);
  }

  async #newChain(epoch) {
    this.secret = toHex(crypto.getRandomValues(new Uint8Array(32)));
    this.elements = await chain(this.secret);
    Object.assign(this, { epoch, used: 0 });
    this.#keep();
  }

  async #give(state, mine) {
    const { hand, config } = state;
    const index = mine.seed_index + 1;
    const known = this.elements && index < this.elements.length && this.elements[index - 1] === mine.seed;
    if (!known || index <= this.used || !hand.committed) return null;
    const { signature, dealer_key, ...signed } = hand.committed;
    const table_id = hand.hand_id.slice(0, hand.hand_id.lastIndexOf("-"));
    const commitment = { ...signed, table_id, game: config.game, cards: hand.deck_size };
    if (!await isCommitted(commitment, signature, dealer_key)) return null;
    this.used = index;
    this.#keep();
    const element = this.elements[index];
    remember(hand.hand_id, { answered: await commitmentHash(commitment), element });
    return { type: "GiveSeed", hand_id: hand.hand_id, element };
  }

  #keep() {
    const { secret, epoch, used } = this;
    localStorage.setItem(this.key, JSON.stringify({ secret, epoch, used }));
  }
}

/** x(0), the tip, to x(LENGTH), the secret. */
async function chain(secret) {
  const elements = [secret];
  let last = Uint8Array.from(secret.match(/../g), (digits) => parseInt(digits, 16));
  while (elements.length <= LENGTH) {
    last = await sha256(last);
    elements.push(toHex(last));
  }
  return elements.reverse();
}
