// Name and password: coming in, or coming in for the first time.
import { html, useState } from "./vendor/htm-preact.js";
import { logIn, register } from "./api.js";
import { refusalWords, t } from "./words.js";

const LEAST_PASSWORD = 8;

export function LoginPage() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);
  const go = (enter) => async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await enter(name.trim(), password);
    } catch (refused) {
      setRefusal(refusalWords(refused));
      setBusy(false);
    }
  };
  return html`<main class="page" id="main" tabindex="-1"><form class="login" onSubmit=${go(logIn)} data-testid="login-form">
    <header><img src="icon.svg" alt="" width="44" height="44" /><div><h1>${t("room")}</h1><p class="tagline">${t("room.tagline")}</p></div></header>
    <label class="field"><span>${t("login.name")}</span>
      <input type="text" name="name" autocomplete="username" autocapitalize="none" spellcheck="false" required value=${name} data-testid="login-name"
        onInput=${(e) => setName(e.target.value)} /></label>
    <label class="field"><span>${t("login.password")}</span>
      <input type="password" name="password" autocomplete="current-password" required value=${password} data-testid="login-password"
        onInput=${(e) => setPassword(e.target.value)} /></label>
    ${refusal ? html`<p class="notice" role="alert" data-testid="login-error">${refusal}</p>` : null}
    <div class="row"><button class="primary" disabled=${busy} data-testid="login-submit">${t("login.in")}</button>
      <button type="button" disabled=${busy} onClick=${go(register)} data-testid="register-submit">${t("login.register")}</button></div>
    <p class="hint">${t("login.hint", { min: LEAST_PASSWORD })}</p>
  </form></main>`;
}
