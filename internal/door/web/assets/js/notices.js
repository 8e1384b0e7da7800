// Notifications: tests of channels with what came of them, the form of a channel, which is tested as it is saved, what a
// form begins with for one provider, and placeholders, which are put where the cursor was.
import { inWords, reasonOf, text } from "./words.js";
import { line, toast } from "./ui.js";
import { ask } from "./forms.js";
import { refresh } from "./live.js";

const shown = "***"; // stands where a secret is

// data-tests names where the result of a test is shown; without a name each result finds its own place.
document.addEventListener("submit", ({ target: form }) => {
  if (form.dataset.tests) document.getElementById(form.dataset.tests).replaceChildren(line("p", text("channel_testing"), "muted"));
  else if ("tests" in form.dataset) toast(text("channel_testing"));
});

document.addEventListener("refused", ({ detail: { form } }) => {
  if (form.dataset.tests) document.getElementById(form.dataset.tests).replaceChildren();
});

document.addEventListener("answered", async ({ detail: { form, body } }) => {
  if (form.dataset.channel) {
    saved(form, body);
    return;
  }
  const results = body.results ?? [body];
  for (const result of results) document.getElementById(`tested-${result.channel_id}`)?.replaceChildren(...(await resultLines(result)));
  if (body.results) {
    const count = results.filter(({ ok }) => ok).length;
    toast(text("channel_tests", { ok: count, all: results.length }), { tone: count === results.length ? "good" : "bad" });
  }
  refresh();
});

async function resultLines(result) {
  const { ok, latency_ms: ms } = result;
  if (ok) return [line("p", text("channel_arrived", { ms }), "good")];
  return [line("p", text("channel_refused"), "bad"), ...(await inWords([reasonOf(result, "problem"), reasonOf(result, "advice")].filter(Boolean))).map((said) => line("p", said))];
}

// A new channel is from now on the one that is changed; whether it works shows at once.
async function saved(form, { id }) {
  if (form.dataset.api === "POST") {
    form.dataset.api = "PUT";
    form.dataset.url += `/${id}`;
    history.replaceState(null, "", form.dataset.channel + id);
  }
  const place = form.querySelector(".tried");
  place.className = "tried note";
  place.hidden = false;
  place.replaceChildren(line("p", text("channel_saved_testing")));
  const result = await ask(form, "POST", `${form.dataset.url}/test`, null);
  place.hidden = !result;
  if (!result) return;
  place.classList.add(result.ok ? "good" : "bad");
  const lines = document.createElement("div");
  lines.append(line("p", text(result.ok ? "channel_saved_works" : "channel_saved_refused"), "goal"), ...(result.ok ? [] : (await resultLines(result)).slice(1)));
  place.replaceChildren(lines);
  refresh();
}

document.addEventListener("click", ({ target }) => {
  const preset = target.closest("[data-preset]");
  if (preset) begin(preset);
  const ticks = target.closest("[data-ticks]");
  if (ticks) for (const box of ticks.form.querySelectorAll("[name=kinds]")) box.checked = ticks.dataset.ticks === "first" && "first" in box.dataset;
  const puts = target.closest("[data-puts-in]");
  if (puts) put(puts.form, puts.dataset.putsIn);
});

/** Fills a form with what a preset begins with. */
function begin({ form, dataset: { fills, preset } }) {
  for (const [name, value] of Object.entries(JSON.parse(fills))) form.elements[name].value = value;
  for (const hint of document.querySelectorAll("[data-hint]")) hint.hidden = hint.dataset.hint !== preset;
}

let taking = null; // the field that a placeholder goes into

document.addEventListener("focusin", ({ target }) => {
  if (target.matches("[data-takes]")) taking = target;
  if (target.value === shown && target.select) target.select();
});

function put(form, placeholder) {
  const field = taking?.form === form ? taking : [...form.querySelectorAll("[data-takes]")].at(-1);
  field.setRangeText(placeholder, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

// Whoever opens a notice has read it.
document.querySelector("form[data-reads]")?.requestSubmit();
