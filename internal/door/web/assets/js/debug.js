// The tools: what takes a while (data-follows shows on the page how far it is, data-patience only says so), hosts and
// proxies that are tried (data-tries), and the log of the service as it grows (data-log).
import { text } from "./words.js";
import { line } from "./ui.js";
import { ask, bodyOf, clearErrors } from "./forms.js";
import { refresh } from "./live.js";
import { write } from "./run.js";

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
  place.replaceChildren(...(body ? routeLines(body) : []));
}

function routeLines({ routes, proxy }) {
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
let stream = null;
let paused = false;

function listen() {
  if (stream || paused || document.hidden) return;
  const { level, text: q, after } = log.dataset;
  stream = new EventSource(`${log.dataset.log}?${new URLSearchParams({ level, q, after })}`);
  stream.addEventListener("log", ({ data }) => {
    const entry = JSON.parse(data);
    write(log, most, entry, line("span", entry.level, "level"));
    log.dataset.after = entry.id;
    document.getElementById("log-none").hidden = true;
  });
  stream.addEventListener("error", ({ target }) => {
    if (target.readyState !== EventSource.CLOSED || target !== stream) return;
    stream = null; // it was refused, as by a proxy while the service starts
    setTimeout(listen, 5000);
  });
}

function stop() {
  stream?.close();
  stream = null;
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
