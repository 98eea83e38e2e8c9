// The hands I played: a list, and the text of one.
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { dealRecord, fairness, handText, hands } from "./api.js";
import { rememberedDeal } from "./seeds.js";
import { verifyRecord } from "./verify_deal.js";
import { currentLanguage, money, refusalWords, t } from "./words.js";

const when = (ms) => new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "medium", timeStyle: "short" }).format(ms);

function Row({ hand }) {
  const unit = hand.currency_unit ?? 100;
  return html`<tr data-testid="hand-row" data-hand=${hand.hand_id}>
    <td><a href=${"#/hands/" + encodeURIComponent(hand.hand_id)}>${hand.number ?? hand.hand_id}</a></td>
    <td>${hand.table_name}</td><td class="wide">${t(`game.${hand.game}.short`)}</td><td class="wide">${when(hand.ended_ms)}</td>
    <td class=${hand.result > 0 ? "won" : hand.result < 0 ? "lost" : ""}>${hand.result > 0 ? "+" : ""}${money(hand.result, unit)}</td></tr>`;
}

export function HandsPage() {
  const [list, setList] = useState(null);
  const [more, setMore] = useState(null);
  const [refusal, setRefusal] = useState(null);
  const ask = (before) => hands(before).then((page) => {
    setList((old) => [...(before ? old : []), ...page.hands]);
    setMore(page.next ?? null);
  }, setRefusal);
  useEffect(() => { ask(null); }, []);
  return html`<main class="page" id="main" tabindex="-1" data-testid="hands-page"><h1>${t("hands.title")}</h1>
    ${refusal ? html`<p class="notice" role="alert">${refusalWords(refusal)}</p>` : null}
    ${list === null ? (refusal ? null : html`<p class="notice plain">${t("loading")}</p>`)
      : list.length === 0 ? html`<p class="notice plain">${t("hands.none")}</p>`
      : html`<table class="hands"><thead><tr><th>${t("hands.number")}</th><th>${t("hands.table")}</th><th class="wide">${t("lobby.game")}</th>
          <th class="wide">${t("hands.when")}</th><th>${t("hands.result")}</th></tr></thead>
        <tbody>${list.map((hand) => html`<${Row} key=${hand.hand_id} hand=${hand} />`)}</tbody></table>`}
    ${more ? html`<p><button onClick=${() => ask(more)}>${t("hands.more")}</button></p>` : null}</main>`;
}

/** The deal checked in this browser, by its own verifier and its own memory; the record to keep, or to check elsewhere. */
function Deal({ id }) {
  const [report, setReport] = useState(null);
  const [record, setRecord] = useState(null);
  const [trouble, setTrouble] = useState(null);
  const verify = async () => {
    setTrouble(null);
    try {
      const [text, { dealer_keys }] = await Promise.all([dealRecord(id), fairness()]);
      setRecord(URL.createObjectURL(new Blob([text], { type: "application/json" })));
      setReport(await verifyRecord(new TextEncoder().encode(text), dealer_keys, rememberedDeal(id)));
    } catch (error) {
      setTrouble(error.code ? refusalWords(error) : t("deal.cannot"));
    }
  };
  return html`<section data-testid="deal"><p><button onClick=${verify}>${t("deal.verify")}</button>
      ${record ? html` <a href=${record} download=${id + ".json"}>${t("deal.download")}</a>` : null}</p>
    ${trouble ? html`<p class="notice" role="alert">${trouble}</p>` : null}
    ${report ? html`<p role="status" data-testid="deal-verdict" class=${report.ok ? "won" : "lost"}>${t(report.ok ? "deal.ok" : "deal.broken")}</p>
      <ul class="checks">${report.checks.map((check) => html`<li class=${check.ok ? "won" : "lost"}>
        ${check.ok ? "✓" : "✗"} ${t("deal.check." + check.name)}${check.ok ? "" : " " + check.sentence}</li>`)}</ul>` : null}</section>`;
}

export function HandPage({ id }) {
  const [text, setText] = useState(null);
  const [refusal, setRefusal] = useState(null);
  const [copied, setCopied] = useState(false);
  useEffect(() => { handText(id).then(setText, setRefusal); }, [id]);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), () => {});
  return html`<main class="page" id="main" tabindex="-1" data-testid="hand-page">
    <p><a href="#/hands">← ${t("hands.back")}</a></p>
    <h1>${t("hands.number")}</h1>
    ${refusal ? html`<p class="notice" role="alert">${refusalWords(refusal)}</p>` : null}
    ${text === null ? null : html`<pre class="hand-text" data-testid="hand-text" tabindex="0">${text}</pre>
      <p><button onClick=${copy}>${t(copied ? "hands.copied" : "hands.copy")}</button></p>
      <${Deal} id=${id} />`}</main>`;
}
