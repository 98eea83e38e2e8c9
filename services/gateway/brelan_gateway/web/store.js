// What the page remembers: who is logged in, settings, and sentences to show. Everything that shows it subscribes.
import { useEffect, useState } from "./vendor/htm-preact.js";
import { refusalWords } from "./words.js";

export function makeStore(initial) {
  let state = initial;
  const listeners = new Set();
  return {
    get: () => state,
    set(changes) {
      state = { ...state, ...(typeof changes === "function" ? changes(state) : changes) };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The store's state; the component is drawn again when it changes. */
export function useStore(store) {
  const [, redraw] = useState(0);
  useEffect(() => store.subscribe(() => redraw((n) => n + 1)), [store]);
  return store.get();
}

const KEPT = "brelan.settings";
const kept = (() => {
  try { return JSON.parse(localStorage.getItem(KEPT)) ?? {}; } catch { return {}; }
})();

export const settings = makeStore({
  language: (navigator.language ?? "en").startsWith("fr") ? "fr" : "en", sound: true, ...kept });
settings.subscribe(() => localStorage.setItem(KEPT, JSON.stringify(settings.get())));

const SESSION = "brelan.session";
const oldSession = (() => {
  try { return JSON.parse(localStorage.getItem(SESSION)); } catch { return null; }
})();

/** token, player {player_id, name}, balance; token null: logged out. */
export const session = makeStore({ token: null, player: null, balance: null, ...(oldSession ?? {}) });
session.subscribe(() => {
  const { token, player } = session.get();
  if (token) localStorage.setItem(SESSION, JSON.stringify({ token, player }));
  else localStorage.removeItem(SESSION);
});

export const toasts = makeStore({ list: [] });
let toastId = 0;

/** Says a sentence for a while. */
export function say(text) {
  const id = ++toastId;
  toasts.set(({ list }) => ({ list: [...list.filter((toast) => toast.text !== text), { id, text }].slice(-3) }));
  setTimeout(() => unsay(id), 8000);
}
export const unsay = (id) => toasts.set(({ list }) => ({ list: list.filter((toast) => toast.id !== id) }));

/** Says what was refused, in the player's words. */
export const sayRefusal = (refusal) => say(refusalWords(refusal));
