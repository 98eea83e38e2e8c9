// Time on the page: the room's clock as the socket measured it, and the ring around a seat that runs down to a deadline.
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { t } from "./words.js";

const RADIUS = 20;
const AROUND = 2 * Math.PI * RADIUS;
const HURRY_MS = 3000;

/** The room's time in milliseconds, drawn again every `everyMs` while `running`. */
export function useRoomNow(offsetMs, everyMs, running = true) {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, running]);
  return Date.now() + offsetMs;
}

export const secondsLeft = (deadlineMs, nowMs) => Math.max(0, Math.ceil((deadlineMs - nowMs) / 1000));

/** The ring and the seconds. `wholeMs` is the time there was in all. */
export function Clock({ deadlineMs, wholeMs, offsetMs, onHurry }) {
  const now = useRoomNow(offsetMs, 100);
  const left = Math.max(0, deadlineMs - now);
  const hurry = left < HURRY_MS;
  useEffect(() => { if (hurry && left > 0) onHurry?.(); }, [hurry, deadlineMs]);
  const gone = AROUND * (1 - Math.min(1, left / wholeMs));
  return html`<span class=${`medal ${hurry ? "hurry" : ""}`} role="timer" data-testid="clock"
      aria-label=${t("act.clock", { seconds: secondsLeft(deadlineMs, now) })}>
    <svg class=${`ring ${hurry ? "hurry" : ""}`} viewBox="0 0 44 44" aria-hidden="true">
      <circle class="left" cx="22" cy="22" r=${RADIUS} stroke-dasharray=${AROUND} stroke-dashoffset=${gone} />
    </svg>
    <span aria-hidden="true">${secondsLeft(deadlineMs, now)}</span></span>`;
}

let audio = null;

/** Two short tones: three seconds are left. */
export function beep() {
  if (navigator.userActivation && !navigator.userActivation.hasBeenActive) return; // browsers play nothing before a first click
  try {
    audio ??= new AudioContext();
    for (const [at, pitch] of [[0, 660], [0.16, 880]]) {
      const tone = audio.createOscillator();
      const loudness = audio.createGain();
      tone.frequency.value = pitch;
      loudness.gain.setValueAtTime(0.09, audio.currentTime + at);
      loudness.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + at + 0.14);
      tone.connect(loudness).connect(audio.destination);
      tone.start(audio.currentTime + at);
      tone.stop(audio.currentTime + at + 0.15);
    }
  } catch { /* a browser without sound plays on in silence */ }
}
