// The tables of the room, kept fresh by asking every few seconds.
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { tables } from "./api.js";
import { money, refusalWords, t } from "./words.js";

const EVERY_MS = 3000;

/** Asks again and again while the page is looked at. */
function usePolled(ask) {
  const [answer, setAnswer] = useState({ value: null, refusal: null });
  useEffect(() => {
    let gone = false;
    const once = () => ask().then(
      (value) => { if (!gone) setAnswer({ value, refusal: null }); },
      (refusal) => { if (!gone) setAnswer((old) => ({ value: old.value, refusal })); });
    once();
    const timer = setInterval(() => { if (!document.hidden) once(); }, EVERY_MS);
    return () => { gone = true; clearInterval(timer); };
  }, []);
  return answer;
}

const Dots = ({ taken, of }) => html`<span class="dots" aria-hidden="true">
  ${Array.from({ length: of }, (_, i) => html`<i class=${i < taken ? "on" : ""}></i>`)}</span>`;

function Row({ table }) {
  const unit = table.currency_unit ?? 100;
  const fact = (name, value) => html`<div><dt>${t("lobby." + name)}</dt><dd>${value}</dd></div>`;
  return html`<li class="row-card" data-testid="table-row" data-table=${table.table_id} data-game=${table.game}>
    <h2>${table.name}<small>${t("game." + table.game)}
      ${["open", undefined].includes(table.status) ? null : html` <span class="badge">${t("lobby.status." + table.status)}</span>`}
      ${table.my_seat ? html` · <span class="seated">${t("lobby.seated")}</span>` : null}</small></h2>
    <dl>
      ${fact("limits", t("limits", { lower: money(table.lower_limit, unit), upper: money(table.upper_limit, unit) }))}
      ${fact("players", html`${table.players}/${table.seats}<${Dots} taken=${table.players} of=${table.seats} />`)}
      ${fact("buyIn", money(table.minimum_buy_in, unit))}
      ${fact("pot", table.average_pot == null ? "–" : money(table.average_pot, unit))}
      ${fact("pace", table.hands_per_hour ?? "–")}
      ${fact("time", t("lobby.seconds", { n: table.action_time_ms / 1000 }))}
    </dl>
    <div class="go"><a class="button" href=${"#/table/" + encodeURIComponent(table.table_id)} data-testid="open-table">
      ${t(table.my_seat ? "lobby.return" : "lobby.open")}<span class="hidden-text"> ${table.name}</span></a></div>
  </li>`;
}

export function LobbyPage() {
  const { value, refusal } = usePolled(tables);
  return html`<main class="page" id="main" tabindex="-1" data-testid="lobby">
    <h1>${t("lobby.title")}</h1>
    ${refusal ? html`<p class="notice" role="alert">${refusalWords(refusal)}</p>` : null}
    ${value === null ? (refusal ? null : html`<p class="notice plain">${t("loading")}</p>`)
      : value.length ? html`<ul class="rows">${value.map((table) => html`<${Row} key=${table.table_id} table=${table} />`)}</ul>`
      : html`<p class="notice plain">${t("lobby.none")}</p>`}
  </main>`;
}
