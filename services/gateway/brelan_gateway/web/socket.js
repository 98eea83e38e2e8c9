// One table's socket (docs/api/socket.md): snapshot or resume, then gap-free versions; a lost line is taken up again by
// itself, from the version we have. Commands carry an id and are asked again under it until they are answered.
import { useEffect, useState } from "./vendor/htm-preact.js";
import { socketTicket } from "./api.js";
import { myHoleKeys } from "./hole_keys.js";
import { Seeds } from "./seeds.js";
import { emptyTable, opened, receive } from "./table_state.js";

const PING_EVERY_MS = 5_000;
const SILENT_MS = 12_000;
const ASK_AGAIN_MS = 5_000;
const GIVE_UP_MS = 60_000;
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 8_000;
const SAMPLES = 8;
const DECISIONS = new Set(["Act", "Draw", "Show", "Muck"]);
const FOR_GOOD = { 4404: "no_table", 4409: "elsewhere" };

export class TableSocket {
  constructor(tableId, onChange, onEvents = () => {}) {
    Object.assign(this, { tableId, onChange, onEvents, state: emptyTable(), link: "connecting", pingMs: null, offsetMs: 0 });
    this.pending = new Map(); // id -> {command, resolve, askedAt, firstAt}
    this.samples = []; // {rtt, offset}
    this.seeds = new Seeds(tableId);
    this.holeKeys = null; // a promise, once it is known who I am
    this.failures = 0;
    this.nextId = 1;
    this.prefix = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(36)).join("");
    this.stopped = false;
    this.timer = setInterval(() => this.#tick(), 1000);
    this.#connect();
  }

  stop() {
    this.stopped = true;
    clearInterval(this.timer);
    clearTimeout(this.again);
    this.socket?.close(1000);
    for (const { resolve } of this.pending.values()) resolve({ code: "not_connected", message: "" });
    this.pending.clear();
  }

  /** Answers null when the room accepted, else the refusal {code, message}. */
  send(command) {
    const id = `${this.prefix}-${this.nextId++}`;
    return new Promise((resolve) => {
      const now = Date.now();
      this.pending.set(id, { command, resolve, askedAt: now, firstAt: now });
      this.#write({ type: "command", id, command });
      this.#tell();
    });
  }

  async #connect() {
    this.#become("connecting");
    let ticket;
    try {
      ticket = await socketTicket();
    } catch (refusal) {
      if (refusal.status !== 401) this.#later();
      return;
    }
    if (this.stopped) return;
    const { version, epoch } = this.state;
    const url = new URL(`api/tables/${encodeURIComponent(this.tableId)}/socket`, location.href);
    url.hash = "";
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("ticket", ticket);
    if (version >= 0) {
      url.searchParams.set("since", version);
      url.searchParams.set("epoch", epoch);
    }
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.onopen = () => {
      this.heardAt = Date.now();
      this.#ping();
    };
    socket.onmessage = ({ data }) => { if (socket === this.socket) this.#hear(JSON.parse(data)); };
    socket.onclose = ({ code }) => { if (socket === this.socket) this.#closed(code); };
  }

  #closed(code) {
    this.socket = null;
    if (this.stopped) return;
    if (FOR_GOOD[code]) this.#become(FOR_GOOD[code]);
    else this.#later();
  }

  #later() {
    if (this.stopped) return;
    this.failures += 1;
    this.#become("lost");
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.failures - 1));
    this.again = setTimeout(() => this.#connect(), (pause * (0.5 + Math.random())) + (this.restartMs ?? 0) * Math.random());
    this.restartMs = 0;
  }

  #hear(message) {
    this.heardAt = Date.now();
    switch (message.type) {
      case "snapshot":
      case "resumed":
        this.failures = 0;
        if (!this.samples.length) this.offsetMs = message.now - Date.now();
        this.#take(message);
        this.#become("live");
        this.#askAgain(() => true);
        return;
      case "events": return this.#take(message);
      case "ack": return this.#answer(message.id, null);
      case "refused": return this.#answer(message.id, { code: message.code, message: message.message });
      case "pong": return this.#measure(message);
      case "notice": if (message.code === "restarting") this.restartMs = message.retry_in_ms ?? 0; return;
      default: // a newer room may say more
    }
  }

  #take(message) {
    const next = receive(this.state, message);
    if (next === null) { // versions missing: never guessed, taken up again from what we have
      this.socket?.close(4000);
      return;
    }
    if (next === this.state) return;
    this.state = next;
    this.holeKeys ??= myHoleKeys(this.state.me);
    if (message.sealed) this.#open(message.sealed);
    if (message.type === "events") this.onEvents(message.events);
    this.#contribute();
    this.#tell();
  }

  /** What was sealed to my own key. */
  async #open(sealed) {
    const cards = await (await this.holeKeys)?.open(this.tableId, sealed);
    this.state = opened(this.state, sealed, cards ?? null);
    this.#tell();
  }

  /** My key, or my seed for the deal, when one is due. What is heard meanwhile is looked at afterwards. */
  async #contribute() {
    this.heardMore = true;
    if (this.contributing) return;
    this.contributing = true;
    try {
      while (this.heardMore && !this.stopped) {
        this.heardMore = false;
        const holeKeys = await this.holeKeys;
        this.state = { ...this.state, myKey: holeKeys?.holeKey ?? "" };
        const command = holeKeys?.due(this.state) ?? await this.seeds.due(this.state);
        if (!command) continue;
        this.heardMore = true;
        await this.send(command);
      }
    } finally {
      this.contributing = false;
    }
  }

  #answer(id, refusal) {
    const asked = this.pending.get(id);
    this.pending.delete(id);
    asked?.resolve(refusal);
    if (asked) this.#tell();
  }

  #ping() {
    this.pingedAt = Date.now();
    this.#write({ type: "ping", t: this.pingedAt });
  }

  #measure({ t, now }) {
    const heard = Date.now();
    const rtt = Math.max(0, heard - t);
    this.samples = [...this.samples, { rtt, offset: now - (t + heard) / 2 }].slice(-SAMPLES);
    this.pingMs = rtt;
    this.offsetMs = this.samples.reduce((best, sample) => (sample.rtt < best.rtt ? sample : best)).offset; // the quickest way lies least
    this.#tell();
  }

  #tick() {
    const now = Date.now();
    if (this.socket?.readyState === WebSocket.OPEN) {
      if (now - this.heardAt > SILENT_MS) {
        const silent = this.socket;
        silent.onclose = silent.onmessage = null;
        silent.close();
        this.#closed(4408);
        return;
      }
      if (now - this.pingedAt >= PING_EVERY_MS) this.#ping();
    }
    for (const [id, asked] of this.pending) {
      if (now - asked.firstAt > GIVE_UP_MS) this.#answer(id, { code: "no_answer", message: "" });
    }
    this.#askAgain((asked) => now - asked.askedAt > ASK_AGAIN_MS);
  }

  #askAgain(which) {
    for (const [id, asked] of this.pending) {
      if (which(asked) && this.#write({ type: "command", id, command: asked.command })) asked.askedAt = Date.now();
    }
  }

  #write(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  #become(link) {
    if (this.link === link || (link === "connecting" && this.link === "lost")) return;
    this.link = link;
    this.#tell();
  }

  #tell() {
    if (!this.stopped) this.onChange();
  }
}

/** The table's model and its line: {state, link, pingMs, offsetMs, acting, send}. `acting`: a decision of mine is on its way. */
export function useTable(tableId, onEvents) {
  const [line, setLine] = useState(null);
  const [, redraw] = useState(0);
  useEffect(() => {
    const opened = new TableSocket(tableId, () => redraw((n) => n + 1), onEvents);
    setLine(opened);
    return () => opened.stop();
  }, [tableId]);
  if (!line) return { state: emptyTable(), link: "connecting", pingMs: null, offsetMs: 0, acting: false, send: async () => null };
  const { state, link, pingMs, offsetMs } = line;
  const acting = [...line.pending.values()].some(({ command }) => DECISIONS.has(command.type));
  return { state, link, pingMs, offsetMs, acting, send: (command) => line.send(command) };
}
