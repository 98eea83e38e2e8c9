// The room's REST interface (docs/api/rest.md). A refusal is thrown as {code, message, status}.
import { say, session } from "./store.js";
import { t } from "./words.js";

async function ask(method, path, body, as = "json") {
  const { token } = session.get();
  const headers = { Accept: as === "json" ? "application/json" : "text/plain" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch("api/" + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch {
    throw { code: "network", message: "", status: 0 };
  }
  if (answer.ok) return as === "json" ? answer.json() : answer.text();
  const refusal = await answer.json().catch(() => ({}));
  if (answer.status === 401 && token) {
    logOut();
    say(t("login.again"));
  }
  throw { code: refusal.code ?? `http_${answer.status}`, message: refusal.message ?? "", status: answer.status };
}

const enter = (path) => async (name, password) => {
  const { token, player } = await ask("POST", path, { name, password });
  session.set({ token, player, balance: null });
};

export const register = enter("players");
export const logIn = enter("sessions");
export const logOut = () => session.set({ token: null, player: null, balance: null });

export async function refreshBalance() {
  if (!session.get().token) return;
  const { balance } = await ask("GET", "me/balance");
  if (balance !== session.get().balance) session.set({ balance });
}

/** Money moved just now: the wallet books a moment later, so it is asked more than once. */
export function balanceMoved() {
  for (const afterMs of [0, 600, 2_000, 5_000]) setTimeout(() => refreshBalance().catch(() => {}), afterMs);
}

export const tables = async () => (await ask("GET", "tables")).tables;
export const socketTicket = async () => (await ask("POST", "socket-tickets")).ticket;
export const hands = (before) => ask("GET", "me/hands?limit=50" + (before ? `&before=${encodeURIComponent(before)}` : ""));
export const dealRecord = (id) => ask("GET", `hands/${encodeURIComponent(id)}/deal`, undefined, "text");
export const fairness = () => ask("GET", "fairness");
export const handText = (id) => ask("GET", `hands/${encodeURIComponent(id)}?format=text`, undefined, "text");
