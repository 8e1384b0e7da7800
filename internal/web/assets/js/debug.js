// The tools: parts that are looked at again while something goes on (data-poll, in seconds), hosts and proxies
// that are tried (data-tries), and the log of the service as it grows (data-log).
import { text } from "./words.js";
import { timeAs } from "./time.js";
import { line } from "./ui.js";
import { ask, bodyOf, clearErrors } from "./forms.js";
import { refresh } from "./live.js";

let seconds = 0;
setInterval(() => {
  const wanted = Number(document.querySelector("[data-poll]")?.dataset.poll);
  seconds++;
  if (wanted && !document.hidden && seconds % wanted === 0) refresh();
}, 1000);

document.addEventListener("submit", (event) => {
  const form = event.target;
  // What was started shows on the page before its answer comes.
  if (form.matches("[data-follows]")) setTimeout(refresh, 200);
  if (form.matches("[data-patience]")) form.querySelector("[role=status]").textContent = form.dataset.patience;
  if (!form.matches("[data-tries]")) return;
  event.preventDefault();
  attempt(form);
});

// A page that the browser kept from before waits for nothing.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-patience]")) form.querySelector("[role=status]").textContent = "";
});

async function attempt(form) {
  if (form.dataset.busy) return;
  clearErrors(form);
  const place = form.querySelector(".tried");
  place.replaceChildren(line("p", text("trying"), "muted"));
  form.dataset.busy = "yes";
  const body = await ask(form, "POST", form.dataset.tries, bodyOf(form));
  delete form.dataset.busy;
  place.replaceChildren(...(body ? told(body) : []));
}

function told({ routes, proxy }) {
  const lines = routes.map((route) => {
    const works = route.ok ?? route.reachable;
    const way = text(`way_${route.via}`, { proxy: proxy ?? "" }).trim();
    const words = works
      ? text("way_works", { way, ms: Math.round(route.elapsed_ms) })
      : text("way_fails", { way, stage: wordOf("stage", route.failed), advice: wordOf("problem", route.problem) });
    return line("p", words, works ? "good" : "bad");
  });
  if (proxy === "") lines.unshift(line("p", text("no_proxy"), "muted"));
  return lines;
}

function wordOf(kind, name) {
  return document.querySelector(`#network-words [data-${kind}="${CSS.escape(name)}"]`)?.textContent ?? name;
}

const log = document.querySelector("[data-log]");
const most = 1000; // lines that the page keeps
const longest = 600; // characters of what a line adds to its message
let stream = null;
let paused = false;

function listen() {
  if (stream || paused || document.hidden) return;
  const { level, text: q, after } = log.dataset;
  stream = new EventSource(`${log.dataset.log}?${new URLSearchParams({ level, q, after })}`);
  stream.addEventListener("log", ({ data }) => write(JSON.parse(data)));
}

function stop() {
  stream?.close();
  stream = null;
}

function write({ id, time, level, message, facts }) {
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
  const item = line("li", "", level === "ERROR" || level === "WARN" ? "bad" : "");
  const rest = Object.keys(facts).sort().map((name) => `${name}=${typeof facts[name] === "string" ? facts[name] : JSON.stringify(facts[name])}`).join(" ");
  item.append(timeAs("clock", time), line("span", level, "level"), line("strong", message), line("span", rest.length > longest ? `${rest.slice(0, longest)}…` : rest, "muted"));
  log.append(item);
  log.dataset.after = id;
  while (log.children.length > most) log.firstElementChild.remove();
  document.getElementById("log-none").hidden = true;
  if (atEnd) log.scrollTop = log.scrollHeight;
}

if (log) {
  log.scrollTop = log.scrollHeight;
  const button = document.getElementById("log-pause");
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    button.querySelector("[data-pauses]").hidden = paused;
    button.querySelector("[data-goes]").hidden = !paused;
    if (paused) stop();
    else listen();
  });
  listen();
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : listen()));
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
}
