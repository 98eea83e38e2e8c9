// Keys for everything at the table; off while typing and while a window is open.
import { useEffect, useRef } from "./vendor/htm-preact.js";

const typing = (target) => target?.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

/** The choice a key stands for: the list is what the dock shows, so a key never does what a button would not. */
export function choiceFor(choices, key, shift) {
  const kinds = { f: ["fold", "decline"], c: ["check", "call", "bring_in", "post"], r: ["bet", "raise", "complete"], d: ["draw"] }[key];
  if (!kinds) return null;
  const fitting = choices.filter((choice) => kinds.includes(choice.kind));
  return (key === "r" ? fitting.find((choice) => !!choice.upper === shift) ?? fitting[0] : fitting[0]) ?? null;
}

/** `handlers`: act(key, shift), card(index), sit(), help(). */
export function useKeys(handlers) {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const onKey = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
      if (typing(event.target) || document.querySelector("dialog[open]")) return;
      const key = event.key.toLowerCase();
      const { act, card, sit, help } = latest.current;
      if ("fcrd".includes(key) && key.length === 1) act(key, event.shiftKey);
      else if (/^[1-5]$/.test(key)) card(Number(key) - 1);
      else if (key === "s") sit();
      else if (key === "?") help();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
