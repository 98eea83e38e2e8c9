// "Verify this deal": the record of a hand checked in the browser, or in Node 20 and later. Written from
// docs/fairness.md, not from the room's Python code: two verifiers that agree are worth more than one.
// Needs WebCrypto with Ed25519 (a secure context).

const subtle = globalThis.crypto?.subtle;
const ZERO_HASH = "0".repeat(64);
const GAMES = { draw: [32, 36], stud: [52] };
const STUD_FACES = ["down", "down", "up", "up", "up", "up", "down"];

export class Unreadable extends Error {}
class Broken extends Error {}

function demand(holds, sentence) {
  if (!holds) throw new Broken(sentence);
}

// --- bytes -----------------------------------------------------------------------------------------------------------

const ascii = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const named = (text) => join([text.length], ascii(text));

export function fromHex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export function join(...parts) {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function bigEndian64(number) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number));
  return bytes;
}

export const sha256 = async (...parts) => new Uint8Array(await subtle.digest("SHA-256", join(...parts)));

async function hmac(key, ...parts) {
  const imported = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", imported, join(...parts)));
}

export const hkdf = async (material, salt, info) => hmac(await hmac(salt, material), info, [1]);

async function isSigned(publicKey, signature, message) {
  try {
    const key = await subtle.importKey("raw", fromHex(publicKey), { name: "Ed25519" }, false, ["verify"]);
    return await subtle.verify({ name: "Ed25519" }, key, fromHex(signature), message);
  } catch (error) {
    if (error.name === "NotSupportedError") throw error; // this browser cannot check: that is no wrong signature
    return false;
  }
}

// --- chance from a key -------------------------------------------------------------------------------------------------

class Drbg {
  static async from(entropy) {
    const made = new Drbg();
    made.key = new Uint8Array(32);
    made.value = new Uint8Array(32).fill(1);
    made.bytes = [];
    await made.step(0, entropy);
    await made.step(1, entropy);
    return made;
  }

  async step(separator, data) {
    this.key = await hmac(this.key, this.value, [separator], data);
    this.value = await hmac(this.key, this.value);
  }

  async byte() {
    if (!this.bytes.length) {
      const first = (this.value = await hmac(this.key, this.value));
      const second = (this.value = await hmac(this.key, this.value));
      await this.step(0, []);
      this.bytes = [...first, ...second];
    }
    return this.bytes.shift();
  }

  async below(bound) {
    for (;;) {
      const drawn = await this.byte();
      if (drawn < 256 - (256 % bound)) return drawn % bound;
    }
  }

  async shuffled(items) {
    const order = [...items];
    for (let i = order.length - 1; i > 0; i--) {
      const j = await this.below(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }
}

const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);

// --- the tree, as the RFC defines it -----------------------------------------------------------------------------------

function split(size) {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

async function rootOfLeaves(leaves) {
  if (leaves.length === 1) return leaves[0];
  const half = split(leaves.length);
  return sha256([1], await rootOfLeaves(leaves.slice(0, half)), await rootOfLeaves(leaves.slice(half)));
}

// From the top down: the last partner of the path is the other half of the whole tree.
async function rootOfPath(leaf, index, size, path) {
  if (size === 1) {
    demand(!path.length, "A path is too long.");
    return leaf;
  }
  demand(path.length > 0, "A path is too short.");
  const half = split(size);
  const partner = path[path.length - 1];
  const rest = path.slice(0, -1);
  if (index < half) return sha256([1], await rootOfPath(leaf, index, half, rest), partner);
  return sha256([1], partner, await rootOfPath(leaf, index - half, size - half, rest));
}

const leafHash = (handId, epoch, leaf, card, salt) =>
  sha256([0], ascii("BRD1"), named(handId), [epoch, leaf, card], salt);

// --- the form of a record ----------------------------------------------------------------------------------------------

const hex = (digits) => (value) => typeof value === "string" && value.length === digits && /^[0-9a-f]*$/.test(value);
const whole = (top) => (value) => Number.isInteger(value) && value >= 0 && value <= top;
const oneOf = (...values) => (value) => values.includes(value);
const orNull = (form) => (value) => value === null || form(value);
const list = (form, most) => (value) => Array.isArray(value) && value.length <= most && value.every((each) => form(each));
const name = (value) => typeof value === "string" && /^[!#-[\]-~]{1,64}$/.test(value) && !value.endsWith("\n");
const struct = (forms) => (value) =>
  value !== null &&
  typeof value === "object" &&
  !Array.isArray(value) &&
  JSON.stringify(Object.keys(value)) === JSON.stringify(Object.keys(forms)) &&
  Object.entries(forms).every(([key, form]) => form(value[key]));

const small = whole(255);
const counter = whole(Number.MAX_SAFE_INTEGER);
const hash = hex(64);
const opening = struct({ epoch: small, leaf: small, card: small, salt: hash, path: list(hash, 6) });
const commitmentForm = struct({
  hand_id: name,
  seq: counter,
  table_id: name,
  game: name,
  cards: small,
  root: hash,
  secret_hash: hash,
  reshuffle_hashes: list(hash, 8),
  previous: hash,
});
const deal = struct({
  epoch: small,
  position: small,
  leaf: small,
  seat: orNull(small),
  face: oneOf("down", "up", "burned", "common"),
});
const publicForm = struct({
  commitment: commitmentForm,
  signature: hex(128),
  dealer_key: hash,
  outcome: oneOf("played", "void"),
  withheld: list(small, 16),
  secret: orNull(hash),
  seeds: list(struct({ seat: small, index: counter, previous: hash, element: hash }), 16),
  transcript: orNull(hash),
  reshuffles: list(struct({ epoch: small, cards: small, root: hash }), 8),
  deals: list(deal, 128),
  openings: list(opening, 128),
});
const recordForm = struct({
  format: oneOf("BRELAN-DEAL/1"),
  public: publicForm,
  seal: hex(128),
  own: orNull(struct({ seat: small, answered: orNull(hash), element: orNull(hash), openings: list(opening, 16) })),
});

function read(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return [text, JSON.parse(text)];
  } catch {
    throw new Unreadable("This is no record of a hand: it is not JSON.");
  }
}

// --- the checks --------------------------------------------------------------------------------------------------------

function encodedCommitment(c) {
  return join(
    ascii("BRD1-C"),
    named(c.hand_id),
    bigEndian64(c.seq),
    named(c.table_id),
    named(c.game),
    [c.cards],
    fromHex(c.root),
    fromHex(c.secret_hash),
    [c.reshuffle_hashes.length],
    ...c.reshuffle_hashes.map(fromHex),
    fromHex(c.previous),
  );
}

/** Did this dealer sign this commitment? */
export const isCommitted = (commitment, signature, key) => isSigned(key, signature, encodedCommitment(commitment));
export const commitmentHash = async (commitment) => toHex(await sha256(encodedCommitment(commitment)));

const ascending = (values) => values.every((value, i) => i === 0 || values[i - 1] < value);
const sizesOf = (pub) => new Map([[0, pub.commitment.cards], ...pub.reshuffles.map((each) => [each.epoch, each.cards])]);
const place = (of) => `${of.epoch}:${of.leaf}`;

async function checkOutcome(pub) {
  const c = pub.commitment;
  if (pub.outcome === "played") {
    demand(!pub.withheld.length, "A hand was played though a seat withheld its seed.");
    demand(pub.secret === null && pub.transcript !== null, "A played hand has a transcript and no published secret.");
    return;
  }
  const things = pub.reshuffles.length + pub.deals.length + pub.openings.length;
  demand(pub.transcript === null && !things, "A void hand has cards.");
  demand(pub.withheld.length && ascending(pub.withheld), "A void hand names the seats without a seed, by number.");
  demand(!pub.seeds.some((seed) => pub.withheld.includes(seed.seat)), "A seat gave its seed and withheld it.");
  demand(pub.secret !== null, "The secret of a void hand is published.");
  demand([32, 36, 52].includes(c.cards), "There is no such deck.");
  const secret = fromHex(pub.secret);
  demand(toHex(await sha256([2], secret)) === c.secret_hash, "The secret is not the one committed to.");
  const id = ascii(c.hand_id);
  const base = await (await Drbg.from(await hkdf(secret, id, ascii("base")))).shuffled(numbers(52 - c.cards, 52));
  const key = await hkdf(secret, id, ascii("salt"));
  const leaves = [];
  for (const [j, card] of base.entries()) {
    leaves.push(await leafHash(c.hand_id, 0, j, card, await hmac(key, ascii("salt"), [0, j])));
  }
  demand(toHex(await rootOfLeaves(leaves)) === c.root, "The secret does not lead to the root.");
}

async function checkSeeds(pub) {
  demand(ascending(pub.seeds.map((seed) => seed.seat)), "The seeds do not stand by seat, one each.");
  for (const seed of pub.seeds) {
    const follows = toHex(await sha256(fromHex(seed.element))) === seed.previous;
    demand(seed.index > 0 && follows, `The seed of seat ${seed.seat} is not the next one of its chain.`);
  }
}

async function checkCut(pub) {
  if (pub.outcome === "void") return;
  const c = pub.commitment;
  const given = pub.seeds.flatMap((seed) => [[seed.seat], fromHex(seed.element)]);
  const transcript = await sha256(ascii("BRD1-T"), encodedCommitment(c), ...given);
  demand(toHex(transcript) === pub.transcript, "The transcript is not the one of this commitment and these seeds.");
  demand(c.cards >= 2 && c.cards <= 52, "There is no such deck.");
  const elements = join(...pub.seeds.map((seed) => fromHex(seed.element)));
  const drbg = await Drbg.from(await hkdf(elements, transcript, ascii("cut")));
  const leaves = await drbg.shuffled(numbers(0, c.cards));
  for (const each of pub.deals) {
    demand(each.position < (sizesOf(pub).get(each.epoch) ?? 0), "A card comes from a place that is not there.");
    const expected = each.epoch === 0 ? leaves[each.position] : each.position;
    demand(each.leaf === expected, `The card at place ${each.position} of epoch ${each.epoch} is another leaf's.`);
  }
}

function checkDeck(pub) {
  const { game, cards } = pub.commitment;
  demand(Object.hasOwn(GAMES, game) && GAMES[game].includes(cards), `${game} is not played with ${cards} cards.`);
  const players = new Set(pub.deals.filter((each) => each.seat !== null).map((each) => each.seat)).size;
  if (game === "draw" && players) {
    demand((cards === 36) === (players === 5), `${players} players are not dealt in with ${cards} cards (D1).`);
  }
}

function checkOrder(pub) {
  const epochs = pub.reshuffles.map((each) => each.epoch);
  demand(epochs.every((epoch, i) => epoch === i + 1), "The reshuffles are not numbered from 1 on.");
  demand(epochs.length <= pub.commitment.reshuffle_hashes.length, "There are more reshuffles than committed to.");
  const used = new Set([0, ...pub.deals.map((each) => each.epoch)]);
  demand(used.size === epochs.length + 1 && epochs.every((epoch) => used.has(epoch)), "A reshuffle has no cards.");
  const sizes = sizesOf(pub);
  const stud = pub.commitment.game === "stud";
  const held = new Map();
  let [epoch, position, reshuffled] = [0, 0, 0];
  let [street, burned] = [2, false]; // how many cards each seat had before this street; is one burned for the next?
  pub.deals.forEach((each, number) => {
    const begins = each.epoch === epoch + 1 && each.position === 0;
    demand(begins || (each.epoch === epoch && each.position === position), "A card did not lie on top.");
    if (stud) {
      if (begins) {
        const remaining = pub.commitment.cards - [...held.values()].reduce((sum, count) => sum + count, 0);
        demand(each.epoch === 1 && sizes.get(1) === remaining, "The reshuffle has another number of cards (S10).");
      }
      const nobody = each.face === "burned" || each.face === "common";
      demand((each.seat === null) === nobody, "A card went to nobody, or a burn to a seat.");
      if (each.face === "burned") demand(each.epoch === 0, "A card was burned after the reshuffle (S10).");
      if (each.face === "common") demand(begins && number === pub.deals.length - 1, "A community card too many (S10).");
      if (!nobody) demand(each.face === STUD_FACES[held.get(each.seat) ?? 0], "A card lies the wrong way up.");
      if (each.face === "burned") demand(!burned, "Two cards were burned for one street (S6).");
      const count = held.get(each.seat) ?? 0;
      if (!nobody) demand(burned === (each.epoch === 0 && count > street), "A burn is missing, or is one too many (S6).");
      if (!nobody) street = Math.max(street, count);
      if (each.face !== "common") burned = each.face === "burned";
    } else {
      demand(each.seat !== null && each.face === "down", "In draw every card goes to a seat, face down.");
      if (begins) {
        demand(number > 0, "The first card comes from a reshuffle.");
        demand(position === sizes.get(each.epoch - 1), "The stub was not used up (D11).");
        let thrown = -reshuffled;
        for (const [seat, count] of held) if (seat !== each.seat) thrown += count - 5;
        demand(sizes.get(each.epoch) === thrown, "The reshuffle has another number of cards (D11).");
        reshuffled += thrown;
      }
      demand((held.get(each.seat) ?? 0) < 10, "A seat got more than ten cards.");
    }
    if (each.seat !== null) held.set(each.seat, (held.get(each.seat) ?? 0) + 1);
    [epoch, position] = [each.epoch, each.position + 1];
  });
  demand(!burned, "A card was burned for no street (S6).");
  checkTurns(pub.deals.filter((each) => each.seat !== null).map((each) => each.seat), stud);
}

// Round after round from the first seat on, clockwise; in draw the drawn cards seat by seat.
function checkTurns(seats, stud) {
  const around = [...new Set(seats)];
  const descents = around.filter((seat, i) => seat > around[(i + 1) % around.length]).length;
  demand(descents <= 1, "The cards did not go round clockwise.");
  demand(!stud || around.every((seat) => seat >= around[0]), "The first card did not go to the lowest seat (S1).");
  const rounds = stud ? 7 : 5;
  const whole = stud ? 3 : 5;
  const held = around.map(() => 0);
  let last = -1;
  for (const seat of seats) {
    const at = around.indexOf(seat);
    const count = held[at]++;
    const turn = count < rounds ? count * 256 + at : rounds * 256 + at * 256 + count; // a number for each turn, rising
    demand(turn > last, `A card went to seat ${seat} out of turn.`);
    last = turn;
  }
  demand(held.every((count) => count >= whole), "Not everybody was dealt as many cards.");
}

function openingsOf(record) {
  const all = new Map();
  for (const each of [...record.public.openings, ...(record.own?.openings ?? [])]) all.set(JSON.stringify(each), each);
  return [...all.values()];
}

async function checkOpenings(record) {
  const { commitment: c, reshuffles } = record.public;
  const sizes = sizesOf(record.public);
  const roots = new Map([[0, c.root], ...reshuffles.map((each) => [each.epoch, each.root])]);
  const cards = new Set();
  for (const each of openingsOf(record)) {
    const size = sizes.get(each.epoch) ?? 0;
    demand(each.leaf < size, "A card is opened that is not there.");
    const leaf = await leafHash(c.hand_id, each.epoch, each.leaf, each.card, fromHex(each.salt));
    const root = toHex(await rootOfPath(leaf, each.leaf, size, each.path.map(fromHex)));
    demand(root === roots.get(each.epoch), `Leaf ${each.leaf} of epoch ${each.epoch} does not lead to its root.`);
    demand(each.card < 52 && each.card >= 52 - c.cards, `Card ${each.card} is not in the deck.`);
    const card = `${each.epoch}:${each.card}`;
    demand(!cards.has(card), "A card is opened twice.");
    cards.add(card);
  }
}

function checkDisclosure(record) {
  const { deals, openings } = record.public;
  const dealt = new Map(deals.map((each) => [place(each), each]));
  const opened = new Set(openings.map(place));
  demand(opened.size === openings.length, "A leaf is opened twice.");
  for (const at of opened) {
    demand(dealt.has(at) && dealt.get(at).face !== "burned", "A leaf is open that was dealt to nobody.");
  }
  for (const [at, each] of dealt) {
    demand((each.face !== "up" && each.face !== "common") || opened.has(at), "A card dealt face up is not opened.");
  }
  if (record.own === null) return;
  const mine = deals.filter((each) => each.seat === record.own.seat).map(place);
  const own = record.own.openings.map(place);
  demand(JSON.stringify(own) === JSON.stringify(mine), "Your part does not open exactly the cards dealt to you.");
}

async function checkOwn(record) {
  const { own, public: pub } = record;
  if (own === null) return;
  const given = pub.seeds.find((seed) => seed.seat === own.seat)?.element ?? null;
  demand(own.element === given, "The seed of your seat is not the one you gave.");
  const answered = given === null ? null : toHex(await sha256(encodedCommitment(pub.commitment)));
  demand(own.answered === answered, "The commitment is not the one you answered with your seed.");
}

// `bytes`: the file. `keys`: dealers' public keys in hexadecimal that you trust; without any the record's own is taken.
// `memory`: {answered, element} as this client keeps them itself; undefined when it brought no chain.
export async function verifyRecord(bytes, keys = [], memory = undefined) {
  const [text, record] = read(bytes);
  if (!recordForm(record)) throw new Unreadable("This is no record of a hand in the format BRELAN-DEAL/1.");
  const pub = record.public;
  const { dealer_key: key } = pub;
  const checks = [
    ["canonical", () => demand(JSON.stringify(record) === text, "The same is written in another way.")],
    ["dealer_key", () => demand(!keys.length || keys.includes(key), "The dealer's key is none that you trust.")],
    [
      "commitment",
      async () =>
        demand(await isSigned(key, pub.signature, encodedCommitment(pub.commitment)), "The signature is wrong."),
    ],
    [
      "seal",
      async () => {
        const message = join(ascii("BRD1-P"), await sha256(ascii(JSON.stringify(pub))));
        demand(await isSigned(key, record.seal, message), "The signature of the public part is wrong.");
      },
    ],
    ["deck", () => checkDeck(pub)],
    ["seeds", () => checkSeeds(pub)],
    ["outcome", () => checkOutcome(pub)],
    ["cut", () => checkCut(pub)],
    ["order", () => checkOrder(pub)],
    ["openings", () => checkOpenings(record)],
    ["disclosure", () => checkDisclosure(record)],
    ["own", () => checkOwn(record)],
  ];
  if (memory !== undefined) {
    checks.push([
      "memory",
      () => {
        const same = record.own?.answered === memory.answered && record.own?.element === memory.element;
        demand(same, "This browser gave its seed to another commitment.");
      },
    ]);
  }
  const done = [];
  for (const [check, run] of checks) {
    try {
      await run();
      done.push({ name: check, ok: true, sentence: "This holds." });
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      done.push({ name: check, ok: false, sentence: error.message });
    }
  }
  return { ok: done.every((check) => check.ok), hand_id: pub.commitment.hand_id, checks: done };
}

// A table's hands from the first one on: the public parts, in order. Answers a sentence, or null when all is well.
export async function troubleInChain(publics) {
  const table = (name) => name.slice(0, Math.max(0, name.lastIndexOf("-"))); // without its epoch
  let previous = ZERO_HASH;
  let epoch = null;
  let seq = 0;
  let last = new Map();
  const used = new Set();
  for (const pub of publics) {
    const c = pub.commitment;
    if (c.table_id !== epoch) [epoch, seq, last] = [c.table_id, 0, new Map()]; // counts from 1, and knows no chain
    seq += 1;
    if (c.seq !== seq || c.previous !== previous) return `Commitment ${seq} of ${epoch} is missing or does not follow.`;
    if (table(epoch) !== table(publics[0].commitment.table_id)) return "Not all hands are of one table.";
    previous = toHex(await sha256(encodedCommitment(c)));
    for (const seed of pub.seeds) {
      const before = last.get(seed.seat);
      const follows = before?.index === seed.index - 1 && before?.element === seed.previous;
      if (seed.index !== 1 && !follows) return `The seed of seat ${seed.seat} does not follow its last one.`;
      if (used.has(seed.element)) return "A seed was used twice.";
      used.add(seed.element);
      last.set(seed.seat, seed);
    }
  }
  return null;
}
