// The page of questions: the search for another entry, and the keys.
import { text } from "./words.js";
import { line } from "./ui.js";
import { clearErrors, explain, showProblem } from "./forms.js";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-subjects]")) return;
  event.preventDefault();
  search(form);
});

async function search(form) {
  clearErrors(form);
  const query = new URLSearchParams({ q: form.elements.q.value, type: form.dataset.kind });
  let answer;
  try {
    answer = await fetch(`${form.dataset.subjects}?${query}`, { headers: { Accept: "application/json" } });
  } catch {
    showProblem(form, text("unreachable"), "");
    return;
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    explain(form, answer, body);
    return;
  }
  const list = form.parentElement.querySelector("[data-keep]");
  const lines = body.items.map((subject) => found(subject, form.dataset.confirms));
  list.replaceChildren(...(lines.length ? lines : [line("li", text("none_found"), "line muted")]));
}

function found(subject, address) {
  const item = document.getElementById("found-line").content.cloneNode(true).firstElementChild;
  const facts = [subject.name_cn ? subject.name : "", subject.platform, subject.date, `#${subject.id}`];
  item.querySelector(".name").textContent = subject.name_cn || subject.name;
  item.querySelector(".sub").textContent = facts.filter(Boolean).join(" · ");
  item.querySelector("form").dataset.url = address;
  item.querySelector("input").value = subject.id;
  return item;
}

// Keys work on the card that has the focus, or holds it; Enter on a button stays the button's.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select")) return;
  const cards = [...document.querySelectorAll("#review .question")];
  if (!cards.length) return;
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  if (event.key === "j" || event.key === "k") {
    const next = at < 0 ? 0 : Math.max(0, Math.min(cards.length - 1, at + (event.key === "j" ? 1 : -1)));
    cards[next].focus({ preventScroll: true });
    cards[next].scrollIntoView({ block: "nearest" });
    return;
  }
  if (at < 0) return;
  if (/^[1-9]$/.test(event.key)) {
    cards[at].querySelectorAll(".choice button")[event.key - 1]?.focus();
    return;
  }
  if (event.key === "Enter" && document.activeElement !== cards[at]) return;
  cards[at].querySelector(`form[data-key="${CSS.escape(event.key)}"]`)?.requestSubmit();
});
