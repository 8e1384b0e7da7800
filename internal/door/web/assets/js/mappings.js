// Mappings and blocked keywords: the trial of a title, which follows what is typed, and the import with its preview.
import { reasonOf, text, wrong } from "./words.js";
import { line, sentence, visible } from "./ui.js";
import { ask, bodyOf, clearErrors, showProblem } from "./forms.js";

const pause = 250; // ms without typing before a trial
let turn = 0; // the answer to an earlier trial than the last is not shown
let waiting = 0;

// The trial that a form belongs to, or whose draft it is.
function trialOf(form) {
  if (form?.dataset.trial) return form;
  return form?.id ? document.querySelector(`form[data-draft="${form.id}"]`) : null;
}

function soon({ target }) {
  const trial = trialOf(target.closest("form"));
  if (!trial) return;
  clearTimeout(waiting);
  waiting = setTimeout(attempt, pause, trial);
}

document.addEventListener("input", soon);
document.addEventListener("picked", soon);
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-trial]")) return;
  event.preventDefault();
  attempt(event.target);
});
const begun = document.querySelector("form[data-trial]");
if (begun?.elements.title.value) attempt(begun);

async function attempt(trial) {
  clearTimeout(waiting);
  const own = ++turn;
  const event = bodyOf(trial);
  if (!event.title.trim()) {
    trial.querySelector(".tried").hidden = true;
    return;
  }
  const editor = document.getElementById(trial.dataset.draft);
  if (editor?.elements.title.value.trim()) {
    const draft = bodyOf(editor);
    event.draft = { ...draft, id: Number(editor.dataset.id ?? 0), subject_id: draft.subject_id || 0 };
  }
  let answer;
  let body = {};
  try {
    answer = await fetch(trial.dataset.trial, { method: "POST", headers: { Accept: "application/json", "Content-Type": "application/json" }, body: JSON.stringify(event) });
    body = await answer.json();
  } catch {
    // told below
  }
  const why = answer?.ok ? [] : await Promise.all((body.errors ?? [body]).map(wrong));
  if (own !== turn) return;
  if (answer?.ok) showResult(trial, event, body);
  // What is half typed may be wrong for a moment: nothing is marked, and the focus stays.
  else showLines(trial, "warn", line("p", text(answer ? "trial_wrong" : "unreachable"), "goal"), ...why.map((words) => line("p", words, "sub")));
}

function showResult(trial, event, answer) {
  const { blocked, mapping, draft, passed_over: passed, leads } = answer;
  const lines = [];
  let tone = "good";
  if (blocked) {
    tone = "warn";
    lines.push(line("p", text("trial_blocked", { keyword: blocked.keyword }), "goal"));
  } else if (draft) {
    if (draft !== "applies") tone = "warn";
    lines.push(line("p", text(`trial_${draft}`), "goal"));
  }
  if (mapping && draft !== "applies") lines.push(linked(text(mapping.is_regex ? "trial_by_expression" : "trial_by_title", { title: mapping.title }), `${trial.dataset.mappings}/${mapping.id}`, text("trial_open")));
  if (passed) {
    tone = "warn";
    lines.push(line("p", text("trial_passed_over")), sentence(reasonOf(answer, "passed_over")));
  }
  if (leads) {
    const found = leads.status === "matched";
    if (!found) tone = "warn";
    const goal = [leads.subject_name || `#${leads.subject_id}`, leads.episode_sort && text("correct_episode", { sort: String(leads.episode_sort), name: leads.episode_name }).trim()].filter(Boolean).join(" · ");
    lines.push(line("p", found ? text("correct_leads", { goal }) : text("correct_nowhere")));
    if (!found) lines.push(sentence(reasonOf(leads, "reason")));
  } else if (mapping) {
    lines.push(line("p", text("trial_no_subject")));
  } else if (!blocked) {
    tone = draft ? tone : "";
    const query = new URLSearchParams({ title: event.title.trim() });
    if (event.season !== undefined && !event.is_film) query.set("season", event.season);
    if (draft) lines.push(line("p", text("trial_none")));
    else lines.push(linked(text("trial_none"), `${trial.dataset.mappings}/new?${query}`, text("trial_add")));
  }
  showLines(trial, tone, ...lines);
}

function showLines(trial, tone, ...lines) {
  const place = trial.querySelector(".tried");
  place.className = `tried note ${tone}`;
  const all = document.createElement("div");
  all.append(...lines);
  place.replaceChildren(all);
  place.hidden = false;
}

function linked(words, address, name) {
  const paragraph = line("p", `${words} `);
  const link = line("a", name);
  link.href = address;
  paragraph.append(link);
  return paragraph;
}

// The import: a document is read, its preview shown, and sent without the lines that are refused.
const shown = 100; // lines of a kind
let chosen = null; // the document that the preview is of, without refused lines

document.addEventListener("submit", async (event) => {
  if (!event.target.matches("form[data-import]")) return;
  event.preventDefault();
  preview(event.target);
});

document.addEventListener("change", (event) => {
  if (event.target.type === "file" && event.target.closest("form[data-import]") && event.target.files.length) preview(event.target.closest("form"));
});

// The preview is of what was there then.
document.addEventListener("input", (event) => {
  if (event.target.closest("form[data-import]")) hidePreview();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-import-go]")) send(document.querySelector("form[data-import]"));
});

function hidePreview() {
  chosen = null;
  document.getElementById("import-preview").hidden = true;
}

async function preview(form) {
  clearErrors(form);
  hidePreview();
  document.getElementById("import-done").hidden = true;
  const file = form.querySelector("input[type=file]").files[0];
  const pasted = form.querySelector("textarea").value;
  if (!file && !pasted.trim()) {
    showProblem(form, text("import_nothing"), "");
    return;
  }
  const own = ++turn;
  let rules;
  try {
    rules = JSON.parse(pasted.trim() ? pasted : await file.text());
  } catch (problem) {
    showProblem(form, text("import_no_json"), problem.message);
    return;
  }
  const body = await ask(form, "POST", `${form.dataset.import}/preview`, rules ?? [], () => own !== turn);
  if (!body) return;
  const refused = new Set(body.lines.filter(({ fate }) => fate === "refused").map(({ list, index }) => `${list} ${index}`));
  chosen = {};
  for (const list of ["mappings", "blocked_keywords"]) chosen[list] = (rules[list] ?? []).filter((_, index) => !refused.has(`${list} ${index}`));
  show(body);
}

function show(body) {
  const place = document.getElementById("import-preview");
  place.querySelector(".tally").textContent = tally(body);
  const groups = ["refused", "changed", "added"].map((fate) => group(fate, body.lines.filter((one) => one.fate === fate)));
  place.querySelector(".fates").replaceChildren(...groups.filter(Boolean));
  const go = place.querySelector("[data-import-go]");
  const count = body.added + body.changed;
  go.hidden = count === 0;
  go.textContent = text("import_go", { count });
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
  place.focus({ preventScroll: true });
}

function tally({ added, changed, same, refused }) {
  return text("import_tally", { added, changed, same, refused });
}

// One fate: what it comes to, and the lines of it.
function group(fate, lines) {
  if (lines.length === 0) return null;
  const part = document.querySelector("#import-preview template").content.cloneNode(true).firstElementChild;
  part.open = fate !== "added" || lines.length <= 10;
  part.querySelector("summary span").textContent = text(`import_${fate}`, { count: lines.length });
  const list = part.querySelector("ul");
  list.append(...lines.slice(0, shown).map((one) => changeLine(fate, one)));
  if (lines.length > shown) list.append(line("li", text("import_more", { count: lines.length - shown }), "line muted"));
  return part;
}

function changeLine(fate, change) {
  const { list, index, title, mapping, was } = change;
  const item = line("li", "", "line");
  const what = line("span", "", "what");
  what.append(line(mapping?.is_regex ? "code" : "span", title || text("import_untitled"), "name"));
  if (mapping) what.append(line("span", scope(mapping), "sub"));
  if (list === "blocked_keywords") what.append(line("span", text("import_keyword"), "sub"));
  item.append(what);
  if (fate === "refused") {
    item.append(line("span", text("import_line", { line: index + 1 }), "sub end"));
    item.append(sentence(reasonOf(change, "problem")));
  } else if (mapping) {
    const to = line("span", "", "to end");
    if (was) to.append(line("s", goal(was), "muted"), " → ");
    to.append(...visible(goal(mapping)));
    item.append(to);
  }
  return item;
}

function scope({ season, first_season: first, episode }) {
  const words = [];
  if (season !== undefined) words.push(text("import_season", { season: String(season) }));
  else words.push(text(first ? "import_first_season" : "import_every_season"));
  if (episode !== undefined) words.push(text("import_episode", { episode: String(episode) }));
  return words.join(" · ");
}

function goal({ subject_id: id, subject_name: name, episode_offset: offset }) {
  const plus = offset ? ` (${offset > 0 ? "+" : ""}${offset})` : "";
  return `${[name, `#${id}`].filter(Boolean).join(" ")}${plus}`;
}

async function send(form) {
  if (!chosen || form.dataset.busy) return;
  form.dataset.busy = "yes";
  const body = await ask(form, "POST", form.dataset.import, chosen);
  delete form.dataset.busy;
  hidePreview();
  if (!body) {
    form.scrollIntoView({ block: "nearest" });
    return;
  }
  form.reset();
  const done = document.getElementById("import-done");
  done.querySelector(".said").textContent = text("import_done", { added: body.added, changed: body.changed });
  done.hidden = false;
  done.querySelector("a").focus();
}
