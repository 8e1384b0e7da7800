// The page of settings: a form for each section that sends what was changed in it, and the search
// that filters as one types.
import { text } from "./words.js";
import { toast } from "./ui.js";
import { foretell } from "./cron.js";
import { ask, clearErrors, stateOf, valueOf } from "./forms.js";
import { isFilled, refresh } from "./live.js";

const isSettings = (form) => form?.matches("form[data-settings]");

/** The fields that differ from what the page showed, and those marked to go back to their default. */
function changedIn(form) {
  return [...form.elements].filter((field) => field.name && !field.disabled && ("toStandard" in field.dataset || isFilled(field)));
}

/** Shows what is not saved in a section. */
function show(form) {
  const changed = changedIn(form);
  for (const secret of form.querySelectorAll("[data-to-go]")) secret.placeholder = "toStandard" in secret.dataset ? secret.dataset.toGo : secret.dataset.words;
  for (const row of form.querySelectorAll(".setting")) row.querySelector("[data-unsaved]").hidden = !changed.some((field) => row.contains(field));
  form.closest(".section").querySelector("summary [data-unsaved]").hidden = !changed.length;
  form.classList.toggle("unsaved", changed.length > 0);
  form.querySelector("[type=reset]").hidden = !changed.length;
  const bar = form.querySelector(".save-bar");
  bar.querySelector("[role=status]").textContent = changed.length ? text("settings_unsaved", { count: changed.length }) : "";
  bar.querySelector(".primary").setAttribute("aria-disabled", String(!changed.length));
}

/** Puts the default into a field. It is sent as null, so that the default holds and not a value that equals it. */
function toStandard(field) {
  if (field.type === "checkbox") field.checked = field.dataset.standard === "true";
  else field.value = field.dataset.standard;
  field.dataset.toStandard = "yes";
  if (field.dataset.cron) foretell(field);
  show(field.form);
}

document.addEventListener("click", (event) => {
  const back = event.target.closest("[data-back]");
  if (!back) return;
  const field = back.closest(".setting").querySelector("[name]");
  toStandard(field);
  field.focus();
});

document.addEventListener("input", ({ target }) => {
  if (target.id === "q" && target.form.id === "settings-find") find(target.value);
  if (!isSettings(target.form)) return;
  delete target.dataset.toStandard;
  show(target.form);
});

// The fields have their old values only after this event.
document.addEventListener("reset", ({ target: form }) => {
  if (!isSettings(form)) return;
  clearErrors(form);
  setTimeout(() => {
    for (const field of form.querySelectorAll("[data-to-standard]")) delete field.dataset.toStandard;
    form.querySelectorAll("[data-cron]").forEach(foretell);
    show(form);
  });
});

// A field that is not right can lie in what is folded or filtered away; the browser wants to show it.
document.addEventListener("invalid", ({ target: field }) => {
  if (!isSettings(field.form)) return;
  for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  for (const part of [field.closest(".setting"), field.closest(".fold"), field.closest(".section")]) if (part) part.hidden = false;
}, true);

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id === "settings-find") event.preventDefault(); // it is filtered already
  if (!isSettings(form)) return;
  event.preventDefault();
  if (!form.dataset.busy && changedIn(form).length) save(form);
});

async function save(form) {
  const changed = changedIn(form);
  const body = {};
  for (const field of changed) {
    const [section, name] = field.name.split(".");
    (body[section] ??= {})[name] = "toStandard" in field.dataset ? null : valueOf(field);
  }
  clearErrors(form);
  form.dataset.busy = "yes";
  const sent = new Map(changed.map((field) => [field, stateOf(field)]));
  const answer = await ask(form, "PATCH", form.dataset.url, body);
  delete form.dataset.busy;
  if (!answer) return;
  toast(form.dataset.done);
  // What was changed while it was sent stays unsaved; the rest is as the service has it now.
  const later = changedIn(form).filter((field) => sent.get(field) !== stateOf(field));
  for (const field of changed) if (!later.includes(field)) settle(field);
  show(form);
  const parts = "#settings-notes";
  await refresh({ also: later.length ? parts : `${parts}, #${form.closest(".section").id}` });
}

/** Takes what a field shows as what is stored. */
function settle(field) {
  delete field.dataset.toStandard;
  if (field.type === "checkbox") field.defaultChecked = field.checked;
  else if (field.tagName === "SELECT") for (const option of field.options) option.defaultSelected = option.selected;
  else if (field.type === "password") field.value = "";
  else field.defaultValue = field.value;
}

/** Shows the settings in which every word is found, and in the address what is looked for. */
function find(query) {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const section of document.querySelectorAll(".section")) {
    const found = filter(section, wanted);
    count += found;
    section.hidden = !found;
    unfold(section, wanted.length > 0 && found > 0);
    const fold = section.querySelector(".fold");
    if (!fold) continue;
    fold.hidden = ![...fold.querySelectorAll(".setting")].some((row) => !row.hidden);
    unfold(fold, wanted.length > 0 && !fold.hidden);
  }
  document.getElementById("settings-none").hidden = count > 0;
  document.querySelector("#settings-find [role=status]").textContent = wanted.length ? text("settings_found", { count }) : "";
  history.replaceState(null, "", wanted.length ? `?${new URLSearchParams({ q: query.trim() })}` : location.pathname);
}

/** Hides the settings of a section in which a word is missing, but none that is not saved; counts the others. */
function filter(section, wanted) {
  let found = 0;
  for (const row of section.querySelectorAll(".setting")) {
    row.hidden = !wanted.every((word) => row.dataset.text.includes(word)) && row.querySelector("[data-unsaved]").hidden;
    if (!row.hidden) found++;
  }
  return found;
}

/** Opens a part for the time of a search; afterwards it is as the person had it. */
function unfold(part, searching) {
  if (searching) {
    part.dataset.was ??= String(part.open);
    part.open = true;
  } else if (part.dataset.was) {
    part.open = part.dataset.was === "true";
    delete part.dataset.was;
  }
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-show-all]")) return;
  event.preventDefault();
  const field = document.getElementById("q");
  field.value = "";
  field.focus();
  find("");
});
