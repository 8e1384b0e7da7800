// Live parts: elements with data-live and an id are fetched anew when records change.
// data-live="12" is about record 12 only.
// With data-requests they are fetched when a request came to a webhook, too. data-again="5" in one or on it has it fetched anew after 5
// seconds as well, and again as long as it stands there, for what changes without a record.
import { afterPaint, prepare } from "./ui.js";
import { showTimes } from "./time.js";

let running = null;
let again = null; // what to do once the running one is through

/** Fetches this page and swaps its live parts in, with all set its whole main part, else those too that the selector also names. */
export async function refresh({ all = false, also = "" } = {}) {
  if (running) {
    again = { all: all || (again?.all ?? false), also: [again?.also, also].filter(Boolean).join(", ") };
    return running;
  }
  running = swap(all, also);
  try {
    await running;
  } finally {
    running = null;
    repeat();
  }
  if (again) {
    const more = again;
    again = null;
    await refresh(more);
  }
}

async function swap(all, also) {
  let answer;
  try {
    answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  } catch {
    return; // the next event, or the person, tries again
  }
  if (new URL(answer.url).pathname === document.body.dataset.login) {
    location.reload();
    return;
  }
  if (!answer.ok) return;
  if (answer.redirected) { // what the page was about is elsewhere now
    location.replace(answer.url);
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll(all ? "#nav, #main" : ["[data-live][id]", also].filter(Boolean).join(", "))) {
    const next = fresh.getElementById(part.id);
    if (next) put(part, next);
  }
}

// What held the focus when it was lost: it gets it when it is there again, as a question that is asked anew.
let lost = "";

/** Replaces the content of a part, and keeps focus, what was unfolded, what was being filled in, what was scrolled sideways (data-sideways), covers that are shown and what a script put into data-keep. */
function put(part, next) {
  showTimes(next);
  if (part.innerHTML === next.innerHTML) return;
  // Before anything is moved: what is kept loses the focus on its way.
  const focused = part.contains(document.activeElement) ? keyOf(document.activeElement) : null;
  const holder = focused && document.activeElement.closest("[tabindex][id]")?.id;
  for (const kept of part.querySelectorAll("[data-keep][id]")) next.querySelector(`#${kept.id}`)?.replaceWith(kept);
  const open = [...part.querySelectorAll("details[id][open]")].map((d) => d.id);
  const filled = new Map([...part.querySelectorAll(fields)].filter(isFilled).map((field) => [fieldKey(field), field]));
  const sideways = [...part.querySelectorAll("[data-sideways][id]")].map((e) => [e.id, e.scrollLeft]);
  const covers = [...part.querySelectorAll(".cover img")].filter((i) => i.complete && i.naturalWidth > 1); // a missing one is a pixel wide, and asked for again
  part.replaceChildren(...next.childNodes);
  for (const [id, left] of sideways) document.getElementById(id)?.scrollTo({ left, behavior: "instant" });
  const missing = [...part.querySelectorAll(".cover img")];
  for (const cover of covers) {
    const place = missing.findIndex((i) => i.getAttribute("src") === cover.getAttribute("src"));
    if (place >= 0) missing.splice(place, 1)[0].replaceWith(cover);
  }
  for (const id of open) {
    const details = document.getElementById(id);
    if (details) details.open = true;
  }
  for (const field of part.querySelectorAll(fields)) {
    const before = filled.get(fieldKey(field));
    if (!before || before === field) continue;
    if (isTick(field)) field.checked = before.checked;
    else field.value = before.value;
  }
  if (focused) {
    const same = [...part.querySelectorAll("a, button, summary, input, textarea, [tabindex]")].find((e) => keyOf(e) === focused);
    same?.focus({ preventScroll: true });
    lost = same ? "" : holder;
  }
  if (lost && document.activeElement === document.body) document.getElementById(lost)?.focus({ preventScroll: true });
  prepare(part);
}

const fields = "input:not([type=file], [type=hidden]), textarea, select";
const isTick = ({ type }) => type === "checkbox" || type === "radio";

/** Whether a field differs from what the service put there; a choice for which it put nothing always does. */
export function isFilled(field) {
  if (isTick(field)) return field.checked !== field.defaultChecked;
  if (field.tagName === "SELECT") return !field.selectedOptions[0]?.defaultSelected;
  return field.value !== field.defaultValue;
}

// Among the fields of a page: those of a list have one name, and a page has many forms.
const fieldKey = (field) => [field.form?.dataset.url, field.id, field.name, isTick(field) ? field.value : ""].join(" ");

function keyOf(element) {
  return element.id || element.getAttribute("href") || element.textContent;
}

function concerns(ids) {
  return [...document.querySelectorAll("[data-live][id]")].some(({ dataset }) => dataset.live === "" || ids.includes(Number(dataset.live)));
}

let due = 0; // the timer of the next repetition

function repeat() {
  clearTimeout(due);
  const waits = [...document.querySelectorAll("[data-again]")].map(({ dataset }) => Number(dataset.again));
  if (waits.length) due = setTimeout(() => (document.hidden ? repeat() : refresh()), 1000 * Math.min(...waits));
}
repeat();

let stream = null;
let missed = false; // whether something may have changed while nothing was heard

function listen() {
  stream = new EventSource(document.body.dataset.live);
  stream.addEventListener("records", (event) => {
    if (concerns(JSON.parse(event.data))) refresh();
  });
  stream.addEventListener("anything", () => {
    if (document.querySelector("[data-live][id]")) refresh();
  });
  stream.addEventListener("requests", () => {
    if (document.querySelector("[data-live][data-requests]")) refresh();
  });
  stream.addEventListener("error", ({ target }) => {
    missed = true;
    delete document.documentElement.dataset.listening;
    if (target.readyState !== EventSource.CLOSED || target !== stream) return;
    // A broken connection the browser makes again itself; not one that was refused, as by a proxy while the service
    // starts, or because the person is signed out, who is led to the login by the refresh.
    stream = null;
    setTimeout(() => refresh().finally(follow), 5000);
  });
  stream.addEventListener("open", () => {
    document.documentElement.dataset.listening = "yes";
    if (missed) refresh();
    missed = false;
  });
}

// A hidden page gives its connection back: browsers allow six to one host.
function follow() {
  if (document.hidden) {
    stream?.close();
    stream = null;
    return;
  }
  if (stream) return;
  listen();
}

if (document.body.dataset.live) {
  afterPaint(follow);
  document.addEventListener("visibilitychange", () => {
    follow();
    if (!document.hidden) refresh();
  });
  addEventListener("pagehide", () => { stream?.close(); stream = null; });
  addEventListener("pageshow", ({ persisted }) => { if (persisted) follow(); });
}
