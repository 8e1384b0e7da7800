// Fields of a schedule (data-cron) tell when it would be due next.
import { text } from "./words.js";
import { line } from "./ui.js";
import { timeAs } from "./time.js";

let waiting = 0;

/** Shows when a schedule would be due next, once the typing pauses. */
export function foretell(field) {
  clearTimeout(waiting);
  waiting = setTimeout(() => askRuns(field), 250);
}

async function askRuns(field) {
  const value = field.value;
  let answer;
  try {
    answer = await fetch(`${field.dataset.url}?${new URLSearchParams({ key: field.dataset.cron, cron: value })}`, { headers: { Accept: "application/json" } });
  } catch {
    return; // saving tells that the service does not answer
  }
  const body = await answer.json().catch(() => ({}));
  if (field.value !== value || !field.isConnected) return;
  const place = field.parentElement.querySelector(".runs");
  if (answer.status === 422) place.replaceChildren(line("span", text("settings_no_schedule"), "bad"));
  if (!answer.ok) return;
  place.replaceChildren(line("span", text(body.next.length ? "settings_next" : "settings_never")), ...body.next.map((when) => timeAs("at", when)));
}

document.addEventListener("input", ({ target }) => {
  if ("cron" in target.dataset) foretell(target);
});
