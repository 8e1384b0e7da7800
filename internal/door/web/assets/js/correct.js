// The correction of a record: opens its part of the page, and shows a preview of the result.
import { reasonOf, text } from "./words.js";
import { line, sentence } from "./ui.js";
import { ask, clearErrors, subjectIn } from "./forms.js";

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) toggle(document.getElementById(opener.dataset.opens));
  const check = event.target.closest("[data-check]");
  if (check) preview(check.form);
});

document.addEventListener("picked", (event) => {
  if (event.target.dataset.preview) preview(event.target);
});

// asked counts the previews. An answer is not shown when a newer preview was asked for, or a field was changed since.
let asked = 0;

// A preview is out of date when a field changes.
document.addEventListener("input", (event) => {
  const shown = event.target.form?.querySelector(".preview");
  if (!shown) return;
  asked++;
  shown.hidden = true;
});

function toggle(part) {
  part.hidden = !part.hidden;
  for (const opener of document.querySelectorAll(`[aria-controls="${part.id}"]`)) opener.setAttribute("aria-expanded", String(!part.hidden));
  if (part.hidden) return;
  part.scrollIntoView({ block: "nearest" });
  part.querySelector("input").focus();
}

async function preview(form) {
  clearErrors(form);
  if (!form.reportValidity()) return;
  const { subject_id: subject, episode_offset: offset, every_season: every, all_of_title: all, personal } = form.elements;
  const query = new URLSearchParams({ subject_id: subjectIn(subject.value), episode_offset: offset?.value ?? 0, every_season: every?.checked ?? false, all_of_title: all?.checked ?? false, personal: personal?.checked ?? false });
  const turn = ++asked;
  const body = await ask(form, "GET", `${form.dataset.preview}?${query}`, null, () => turn !== asked);
  if (body) show(form.querySelector(".preview"), body);
}

function show(place, { leads, same, marks, others, others_marked: marked, others_change: change, others_stay: stay, others_untold: untold }) {
  const found = leads.status === "matched";
  const goal = [leads.subject_name, leads.episode_sort && text("correct_episode", { sort: String(leads.episode_sort), name: leads.episode_name }).trim()].filter(Boolean).join(" · ");
  place.className = `preview note ${found ? "good" : "warn"}`;
  const lines = document.createElement("div");
  lines.append(line("p", found ? text("correct_leads", { goal }) : text("correct_nowhere"), "goal"));
  if (!found) lines.append(sentence(reasonOf(leads, "reason")));
  lines.append(line("p", text(same ? "correct_same" : marks.length ? "correct_wrong" : "correct_unmarked"), "sub"));
  if (others) lines.append(line("p", text("correct_others", { others, marked }), "sub"));
  if (change + stay + untold) lines.append(line("p", text("correct_others_all", { change, stay, untold }), "sub"));
  place.replaceChildren(lines);
  place.hidden = false;
}
