// Summaries and the language model: what is being written for now, and what came of it. data-writes names where
// that is shown, data-says the words until then. data-cron-is puts a schedule into the field beside it.
import { inWords, reasonOf, text } from "./words.js";
import { line, toast } from "./ui.js";
import { timeAs } from "./time.js";
import { refresh } from "./live.js";

const waits = new Map(); // the places that wait, with what counts the seconds

// Another press while a place waits is none.
document.addEventListener("submit", (event) => {
  if (!waits.has(event.target.dataset.writes)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

document.addEventListener("submit", ({ target: form }) => {
  if (form.dataset.writes && form.dataset.busy) wait(form);
});

function wait(form) {
  const id = form.dataset.writes;
  const began = Date.now();
  const words = line("p", text(form.dataset.says));
  words.setAttribute("role", "status");
  const clock = line("p", "", "sub");
  clock.setAttribute("aria-hidden", "true");
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", words.textContent);
  show(id, words, bar, clock);
  waits.set(id, setInterval(() => {
    clock.textContent = text("summary_seconds", { seconds: Math.round((Date.now() - began) / 1000) });
    if (form.dataset.busy) return;
    end(id); // without an answer
    document.getElementById(id).hidden = true;
  }, 250));
}

function end(id) {
  clearInterval(waits.get(id));
  waits.delete(id);
}

function show(id, ...parts) {
  const place = document.getElementById(id);
  place.replaceChildren(...parts.filter(Boolean));
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
  return place;
}

document.addEventListener("answered", async ({ detail: { form, body } }) => {
  if (form.id === "llm-form") {
    await saved(form);
    return;
  }
  const id = form.dataset.writes;
  if (!id) return;
  end(id);
  const parts = await (id === "llm-told" ? modelLines(body) : summaryLines(body));
  show(id, ...parts).focus({ preventScroll: true });
  await refresh({ also: "#llm-usage" });
});

/** What was saved is tried at once, where there is something to try. */
async function saved(form) {
  form.elements["llm.api_key"].value = "";
  toast(form.dataset.done);
  await refresh({ all: true });
  document.querySelector("form[data-writes=llm-told]")?.requestSubmit();
}

async function modelLines(answer) {
  const { ok, model, latency_ms: ms } = answer;
  if (ok) return [line("p", model ? text("llm_answers", { model }) : text("llm_answers_unnamed"), "goal good"), line("p", text("llm_latency", { seconds: (ms / 1000).toFixed(1) }), "sub")];
  const [problem, advice] = await inWords([reasonOf(answer, "problem"), reasonOf(answer, "advice")]);
  return [line("p", text("llm_fails"), "goal bad"), line("p", problem), line("p", advice, "sub")];
}

/** What a try answers, which is a result, or a run, which has one. */
async function summaryLines(body) {
  if (body.status === "skipped") return [line("p", text("summary_skipped"), "goal")];
  const tried = !body.status;
  const result = tried ? body : body.result;
  const [problem] = await inWords([reasonOf(result, "problem")]);
  if (result.outcome === "failed") return [line("p", text("summary_failed"), "goal bad"), line("p", problem)];
  if (result.outcome === "empty") return [line("p", tried ? text("summary_tried_empty") : text("summary_sent_empty"), "goal"), span(result)];
  const facts = span(result);
  facts.append(line("span", text("summary_records", { count: result.records })), line("span", result.model ? text("summary_by", { model: result.model }) : text("summary_figures")));
  const written = line("div", result.text, "summary-text");
  written.dir = "auto";
  const outcome = body.told ? "summary_sent" : "summary_kept";
  return [line("p", text(tried ? "summary_tried" : outcome), "goal"), facts, problem && line("p", problem, "problem"), written];
}

function span({ from, to }) {
  const facts = line("p", "", "sub facts-line");
  const days = document.createElement("span");
  days.append(timeAs("at", from), " – ", timeAs("at", to));
  facts.append(days);
  return facts;
}

document.addEventListener("click", ({ target }) => {
  const chip = target.closest("[data-cron-is]");
  if (!chip) return;
  const { cron, days_back: days } = chip.closest("form").elements;
  cron.value = chip.dataset.cronIs;
  days.value = chip.dataset.days;
  cron.dispatchEvent(new Event("input", { bubbles: true }));
});
