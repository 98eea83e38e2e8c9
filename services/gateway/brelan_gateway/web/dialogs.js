// The small windows: sit down, top up, leave, keys.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { money, parseMoney, refusalWords, t } from "./words.js";

export function Dialog({ title, onClose, testid, children }) {
  const element = useRef(null);
  useEffect(() => {
    element.current.showModal();
    return () => element.current?.close();
  }, []);
  return html`<dialog ref=${element} onClose=${onClose} data-testid=${testid} aria-label=${title}>
    <div class="body"><h2>${title}</h2>${children}</div></dialog>`;
}

/** An amount to buy: checked here for the player's sake, decided by the room. */
function useAmount(initial, least, balance, unit) {
  const [text, setText] = useState(money(initial, unit));
  const amount = parseMoney(text, unit);
  const [refusal, setRefusal] = useState("");
  const problem = amount === null ? t("sit.notAmount", { amount: money(least, unit) })
    : amount < least ? t("sit.tooLittle", { amount: money(least, unit) })
    : balance !== null && amount > balance ? t("sit.tooMuch", { amount: money(balance, unit) }) : "";
  /** Asks the room; the window stays open with the sentence when it refuses. */
  const ask = (send) => async (event) => {
    event.preventDefault();
    if (problem) return;
    const refused = await send(amount);
    setRefusal(refused ? refusalWords(refused) : "");
  };
  return { text, setText, amount, problem, refusal, ask };
}

function AmountField({ label, buy, testid }) {
  return html`<label class="field"><span>${label}</span>
      <input type="text" inputmode="decimal" autocomplete="off" value=${buy.text} data-testid=${testid}
        aria-invalid=${!!buy.problem} aria-describedby="amount-problem" onInput=${(e) => buy.setText(e.target.value)} /></label>
    <p class="problem" id="amount-problem" role="status" data-testid="amount-problem">${buy.problem || buy.refusal}</p>`;
}

/** `start` is the buy-in offered; `post` the live post of D13, null where nobody chooses. */
export function SitDialog({ seat, config, least, start, balance, post, unit, onSit, onClose }) {
  const buy = useAmount(start, least, balance, unit);
  const [entry, setEntry] = useState("wait");
  const choice = (value, why) => html`<label class="choice">
    <input type="radio" name="entry" value=${value} checked=${entry === value} onChange=${() => setEntry(value)} data-testid=${"entry-" + value} />
    <span>${t("sit.entry." + value)}</span><small>${why}</small></label>`;
  return html`<${Dialog} title=${seat ? t("sit.title.seat", { n: seat }) : t("sit.title")} onClose=${onClose} testid="sit-dialog">
    <form onSubmit=${buy.ask((amount) => onSit({ seat, amount, entry }))}>
      <p class="soft">${t("game." + config.game)}, ${config.name}.${" "}
        ${t("sit.minimum", { amount: money(least, unit) })}
        ${" "}${balance === null ? "" : t("sit.balance", { amount: money(balance, unit) })}</p>
      <${AmountField} label=${t("sit.amount")} buy=${buy} testid="sit-amount" />
      ${post === null ? null : html`<fieldset><legend>${t("sit.entry")}</legend>
        ${choice("wait", t("sit.entry.wait.why"))}
        ${choice("post", t("sit.entry.post.why", { amount: money(post, unit) }))}</fieldset>`}
      <div class="actions"><button type="button" onClick=${onClose}>${t("cancel")}</button>
        <button class="primary" disabled=${!!buy.problem} data-testid="sit-confirm">
          ${t("sit.confirm", { amount: buy.amount === null ? "…" : money(buy.amount, unit) })}</button></div>
    </form></${Dialog}>`;
}

export function TopUpDialog({ least, balance, unit, onTopUp, onClose }) {
  const buy = useAmount(least, least, balance, unit);
  return html`<${Dialog} title=${t("topUp.title")} onClose=${onClose} testid="top-up-dialog">
    <form onSubmit=${buy.ask(onTopUp)}>
      <p class="soft">${t("topUp.minimum", { amount: money(least, unit) })} ${t("topUp.when")}
        ${" "}${balance === null ? "" : t("sit.balance", { amount: money(balance, unit) })}</p>
      <${AmountField} label=${t("topUp.amount")} buy=${buy} testid="top-up-amount" />
      <div class="actions"><button type="button" onClick=${onClose}>${t("cancel")}</button>
        <button class="primary" disabled=${!!buy.problem} data-testid="top-up-confirm">
          ${t("topUp.confirm", { amount: buy.amount === null ? "…" : money(buy.amount, unit) })}</button></div>
    </form></${Dialog}>`;
}

export function LeaveDialog({ stack, playing, unit, onLeave, onClose }) {
  return html`<${Dialog} title=${t("leave.title")} onClose=${onClose} testid="leave-dialog">
    <p>${playing ? t("leave.text.hand") : t("leave.text", { amount: money(stack, unit) })}</p>
    <div class="actions"><button onClick=${onClose}>${t("leave.stay")}</button>
      <button class="danger" onClick=${onLeave} data-testid="leave-confirm">${t("leave.confirm")}</button></div></${Dialog}>`;
}

const KEYS = [["F", "help.fold"], ["C", "help.call"], ["R", "help.raise"], ["1 – 5", "help.cards"], ["D", "help.draw"],
  ["S", "help.sit"], ["?", "help.help"]];

export function HelpDialog({ onClose }) {
  return html`<${Dialog} title=${t("help.title")} onClose=${onClose} testid="help-dialog">
    <dl class="keys">${KEYS.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${t(what)}</dd>`)}</dl>
    <p class="soft">${t("help.typing")}</p>
    <div class="actions"><button class="primary" onClick=${onClose}>${t("close")}</button></div></${Dialog}>`;
}
