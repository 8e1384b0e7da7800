// Small parts of the pages: messages, questions, copying, the list of user names, menus.
import { inWords, text } from "./words.js";

/** Shows a message for a while; detail is a second, quieter line. */
export function toast(message, { tone = "good", detail = "" } = {}) {
  const box = document.createElement("div");
  box.className = `toast ${tone}`;
  box.append(line("p", message));
  if (detail) box.append(linked("p", detail, "sub"));
  const close = line("button", text("close"), "button small ghost");
  close.type = "button";
  close.addEventListener("click", () => box.remove());
  box.append(close);
  document.getElementById("toasts").append(box);
  if (tone !== "bad") setTimeout(() => box.remove(), 6000);
}

// Characters that are not seen, or turn text around; the pages are made without them.
const controls = /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}])/u;

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The parts of a text in which such characters are symbols with their code. */
export function visible(content) {
  return String(content ?? "").split(controls).map((part, i) => {
    if (i % 2 === 0) return part;
    const symbol = document.createElement("span");
    symbol.className = "unseen";
    symbol.textContent = symbol.title = codeOf(part);
    return symbol;
  });
}

/** A text with the codes of such characters in brackets, for where there can be no element. */
export function spelled(content) {
  return String(content ?? "").split(controls).map((part, i) => (i % 2 === 0 ? part : `[${codeOf(part)}]`)).join("");
}

/** Puts a text of others into an element. */
export function fill(element, content) {
  element.replaceChildren(...visible(content));
}

export function line(tag, content, className = "") {
  const element = document.createElement(tag);
  fill(element, content);
  element.className = className;
  return element;
}

const address = /(?<![\w./:-])(\/docs(?:\/[a-z-]+)+)(#[a-z0-9-]+)?/g;
const documents = new Set(globalThis.documents.split(" "));

/** Puts a sentence of the service into an element; documents that it names become links. */
function fillLinked(element, content) {
  fill(element, content);
  for (const node of [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)) {
    const parts = [];
    let from = 0;
    for (const found of node.data.matchAll(address)) {
      if (!documents.has(found[1])) continue;
      const link = line("a", found[0]);
      link.href = document.body.dataset.docs + found[0].slice("/docs".length);
      parts.push(node.data.slice(from, found.index), link);
      from = found.index + found[0].length;
    }
    if (parts.length) node.replaceWith(...parts, node.data.slice(from));
  }
}

/** An element with a sentence of the service. */
export function linked(tag, content, className = "") {
  const element = line(tag, "", className);
  fillLinked(element, content);
  return element;
}

/** An element, else a quieter line, with a reason, in the language of the page where that has words for it. */
export function sentence(reason, tag = "p", className = "sub") {
  const english = reason.text ?? reason;
  const place = linked(tag, english, className);
  place.lang = "en";
  inWords([reason]).then(([words]) => {
    if (words === english) return;
    fillLinked(place, words);
    place.lang = document.documentElement.lang;
  });
  return place;
}

/** Asks a question before what the trigger, a button or link, does; resolves to true when the person says yes. */
export function confirmed(question, trigger) {
  const dialog = document.getElementById("confirm");
  fill(document.getElementById("confirm-text"), question);
  const yes = dialog.querySelector("[value=yes]");
  yes.textContent = trigger.textContent.trim() || trigger.title;
  yes.className = `button ${trigger.closest("[data-api=DELETE]") || trigger.matches(".danger") ? "danger" : "primary"}`;
  dialog.showModal();
  // The event "close" comes late enough to answer the next question, so it is not used.
  return new Promise((resolve) => {
    dialog.querySelector("form").onsubmit = (event) => resolve(event.submitter?.value === "yes");
    dialog.oncancel = () => resolve(false);
  });
}

async function copy(source) {
  const content = source.textContent;
  try {
    await navigator.clipboard.writeText(content);
    return true;
  } catch {
    // Browsers give the clipboard to HTTPS and localhost only; many run this service on plain HTTP at home.
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-button]");
  if (button) {
    const done = await copy(button.closest("[data-copy]").querySelector("code"));
    toast(text(done ? "copied" : "copy_by_hand"), { tone: done ? "good" : "warn" });
    return;
  }
  const name = event.target.closest("[data-name]");
  if (name) toggleName(name);
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

// What a phone folds away of a form, as its style says.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-unfolds]");
  if (!button) return;
  const open = document.getElementById(button.dataset.unfolds).classList.toggle("unfolded");
  button.setAttribute("aria-expanded", String(open));
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details[data-menu][open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

/** The names in a list of one name a line, exactly as typed; blank lines are none. */
export function linesOf(area) {
  return area.value.split("\n").map((l) => l.replace(/\r$/, "")).filter((l) => l.trim() !== "");
}

function toggleName(button) {
  const area = button.closest("[data-names]").querySelector("textarea");
  const names = linesOf(area);
  const name = button.dataset.name;
  area.value = (names.includes(name) ? names.filter((n) => n !== name) : [...names, name]).join("\n");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

function showChosenNames(group) {
  const names = linesOf(group.querySelector("textarea"));
  for (const button of group.querySelectorAll("[data-name]")) {
    button.setAttribute("aria-pressed", String(names.includes(button.dataset.name)));
  }
}

document.addEventListener("input", (event) => {
  const group = event.target.closest("[data-names]");
  if (group) showChosenNames(group);
});

/** Shows the password in the field that data-unmasks names, while it is ticked. */
function unmask(tick) {
  document.getElementById(tick.dataset.unmasks).type = tick.checked ? "text" : "password";
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-unmasks]")) unmask(target);
});
document.addEventListener("reset", ({ target }) => setTimeout(() => target.querySelectorAll("[data-unmasks]").forEach(unmask)));

// Lists are filtered as soon as a choice is made; typing waits for Enter.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-filter] select")) event.target.form.requestSubmit();
});

// Days are days of the reader's zone, and empty choices stay out of the address.
document.addEventListener("formdata", ({ target, formData }) => {
  if (!target.matches("[data-filter]")) return;
  const zone = target.querySelector("[data-zone]");
  const days = [...target.querySelectorAll("[type=date]")].some((day) => day.value);
  if (zone) formData.set(zone.name, days ? (Intl.DateTimeFormat().resolvedOptions().timeZone ?? "") : "");
  for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
});

/** Prepares what is on the page, after loading and after every refresh. */
export function prepare(root = document) {
  root.querySelectorAll("[data-names]").forEach(showChosenNames);
  root.querySelectorAll("[data-unmasks]").forEach(unmask);
}

/** Runs once what can wait until the page was painted first; where the browser does not tell of that, a second later. */
export function afterPaint(work) {
  let began = false;
  const begin = () => {
    if (!began) work();
    began = true;
  };
  new PerformanceObserver(begin).observe({ type: "paint", buffered: true });
  setTimeout(begin, 1000);
}
