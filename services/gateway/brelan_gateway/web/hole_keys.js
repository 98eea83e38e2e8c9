// My own keys: hole cards are sealed to them, and neither the room's gateways nor its operators can open them
// (docs/hole-cards.md). One pair for each player in this browser, made once, kept where no script can read it out. Without
// X25519 (an old browser, a page that is not secure) I bring none, and cards come as they always did.
import { cardText } from "./cards_text.js";
import { fromHex, hkdf, join, toHex } from "./verify_deal.js";
import { playerAt, seatAt } from "./table_state.js";

const BOX = 2; // its format
const KEY_ID = new TextEncoder().encode("brelan key id 1");
const INFO = new TextEncoder().encode("brelan sealed box 2");
const { subtle } = globalThis.crypto ?? {};

export class HoleKeys {
  #brought = new Map(); // table -> epoch and seat

  constructor({ hole, sign, holeKey, signKey }) {
    Object.assign(this, { hole, sign, holeKey, signKey });
  }

  /** The command that is due now, or null. Brought once to each seat and epoch: a later device has the cards from then on. */
  due(state) {
    const mine = seatAt(state, state.mySeat);
    if (!mine) { this.#brought.delete(state.tableId); return null; }
    const place = `${state.epoch}:${mine.seat}`;
    const here = this.#brought.get(state.tableId) === place;
    this.#brought.set(state.tableId, place);
    return here || mine.hole_key === this.holeKey ? null : { type: "BringKey", hole_key: this.holeKey, sign_key: this.signKey };
  }

  /** My cards in the room's shape; null when they are sealed to another key, or are not what the room says of them. */
  async open(tableId, { hand_id, seat, count, box }) {
    try {
      const plain = await this.#unseal(fromHex(box), new TextEncoder().encode(`hole:${tableId}:${seat}`));
      const [handId, ownSeat, , cards, up] = JSON.parse(new TextDecoder().decode(plain));
      if (handId !== hand_id || ownSeat !== seat || cards.length !== count) return null;
      return { hand_id, seat, cards: cards.map(cardText), up };
    } catch {
      return null;
    }
  }

  async #unseal(box, context) {
    const [form, id, ephemeral, nonce, text] = [box.slice(0, 1), box.slice(1, 9), box.slice(9, 41), box.slice(41, 53), box.slice(53)];
    const mine = fromHex(this.holeKey);
    const wanted = new Uint8Array(await subtle.digest("SHA-256", join(KEY_ID, mine))).slice(0, 8);
    if (form[0] !== BOX || toHex(id) !== toHex(wanted)) throw new Error("sealed to another key");
    const sender = await subtle.importKey("raw", ephemeral, { name: "X25519" }, false, []);
    const shared = new Uint8Array(await subtle.deriveBits({ name: "X25519", public: sender }, this.hole.privateKey, 256));
    const key = await subtle.importKey("raw", await hkdf(shared, join(ephemeral, mine), INFO), "AES-GCM", false, ["decrypt"]);
    const padded = new Uint8Array(await subtle.decrypt({ name: "AES-GCM", iv: nonce, additionalData: context }, key, text));
    return padded.slice(0, padded.lastIndexOf(0x80));
  }
}

export async function newHoleKeys() {
  const hole = await subtle.generateKey({ name: "X25519" }, false, ["deriveBits"]);
  const sign = await subtle.generateKey({ name: "Ed25519" }, false, ["sign"]);
  const raw = async (pair) => toHex(new Uint8Array(await subtle.exportKey("raw", pair.publicKey)));
  return { hole, sign, holeKey: await raw(hole), signKey: await raw(sign) };
}

/** This player's, of this browser; null when it cannot have any. Two pages that ask at once get the same. */
export async function myHoleKeys(me) {
  try {
    const made = await newHoleKeys();
    return new HoleKeys(await kept(me, made));
  } catch {
    return null;
  }
}

/** What is kept under this name; `made`, when nothing is. */
async function kept(name, made) {
  const opening = indexedDB.open("brelan", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("hole_keys");
  const database = await done(opening);
  try {
    const store = database.transaction("hole_keys", "readwrite").objectStore("hole_keys");
    const found = await done(store.get(name));
    if (found) return found;
    await done(store.put(made, name));
    return made;
  } finally {
    database.close();
  }
}

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
