// The page: who is logged in, which view the address names, and the frame around it.
import { html, render, useEffect, useState } from "./vendor/htm-preact.js";
import { logOut, refreshBalance } from "./api.js";
import { HandPage, HandsPage } from "./hands.js";
import { LobbyPage } from "./lobby.js";
import { LoginPage } from "./login.js";
import { session, settings, toasts, unsay, useStore } from "./store.js";
import { TablePage } from "./table.js";
import { LANGUAGES, money, setLanguage, t } from "./words.js";

const BALANCE_EVERY_MS = 15_000;

/** "#/table/t1" -> ["table", "t1"]. */
const route = () => location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);

function useRoute() {
  const [parts, setParts] = useState(route());
  useEffect(() => {
    const onChange = () => setParts(route());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return parts;
}

function Language() {
  const { language } = useStore(settings);
  return html`<select aria-label=${t("nav.language")} data-testid="language" value=${language}
      onChange=${(e) => settings.set({ language: e.target.value })}>
    ${LANGUAGES.map(([code, name]) => html`<option value=${code} selected=${code === language} title=${name}>${code.toUpperCase()}</option>`)}</select>`;
}

function Top({ view }) {
  const { player, balance } = useStore(session);
  const link = (name, href, words) => html`<a href=${href} aria-current=${view === name ? "page" : undefined} data-testid=${"nav-" + name}>${words}</a>`;
  return html`<header class="top">
    <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>${t("nav.skip")}</a>
    <a class="brand" href="#/" aria-label=${t("room")}><img src="icon.svg" alt="" width="26" height="26" /><span>${t("room")}</span></a>
    ${player ? html`<nav aria-label=${t("room")}>${link("lobby", "#/", t("nav.lobby"))}${link("hands", "#/hands", t("nav.hands"))}</nav>` : null}
    <span class="space"></span>
    ${player ? html`<span class="wallet"><span class="hidden-text">${t("nav.balance")} </span>
      <b data-testid="balance" data-minor=${balance ?? ""}>${balance === null ? "–" : money(balance)}</b></span>
      <span class="who" data-testid="who">${player.name}</span>` : null}
    <${Language} />
    ${player ? html`<button class="quiet log-out" onClick=${logOut} data-testid="log-out" title=${t("login.out")}>
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" d="M10 4H5v16h5M14 8l4 4-4 4M18 12H9" /></svg>
      <span>${t("login.out")}</span></button>` : null}
  </header>`;
}

const Toasts = () => {
  const { list } = useStore(toasts);
  return html`<div class="toasts" role="alert" data-testid="toasts">${list.map((toast) => html`<div class="toast" key=${toast.id}>
    <span>${toast.text}</span><button aria-label=${t("close")} onClick=${() => unsay(toast.id)}>✕</button></div>`)}</div>`;
};

function View({ view, parts }) {
  if (view === "table") return html`<${TablePage} key=${parts[1]} id=${parts[1]} />`;
  if (view === "hands") return parts[1] ? html`<${HandPage} key=${parts[1]} id=${parts[1]} />` : html`<${HandsPage} />`;
  return html`<${LobbyPage} />`;
}

function App() {
  const { token } = useStore(session);
  const { language } = useStore(settings);
  const parts = useRoute();
  setLanguage(language);
  useEffect(() => { document.documentElement.lang = language; }, [language]);
  useEffect(() => {
    if (!token) return undefined;
    const ask = () => { if (!document.hidden) refreshBalance().catch(() => {}); };
    ask();
    const timer = setInterval(ask, BALANCE_EVERY_MS);
    return () => clearInterval(timer);
  }, [token]);
  const view = ["table", "hands"].includes(parts[0]) ? parts[0] : "lobby";
  return html`<div class="frame">
    <${Top} view=${view} />
    ${token ? html`<${View} view=${view} parts=${parts} />` : html`<${LoginPage} />`}
    <${Toasts} /></div>`;
}

render(html`<${App} />`, document.getElementById("app"));
