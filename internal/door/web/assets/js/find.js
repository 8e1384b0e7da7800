// The field for an entry of the catalog (the part subject-search): a number, the address of a
// page, or a title that is searched for. data-picks="send" of its form sends that as soon as one is picked.
import { text } from "./words.js";
import { fill, line } from "./ui.js";
import { ask, clearErrors, subjectIn } from "./forms.js";

document.addEventListener("click", (event) => {
  const find = event.target.closest("[data-find]");
  if (find) search(find.closest("[data-subjects]"));
  const picked = event.target.closest("[data-pick]");
  if (picked) pick(picked.closest("[data-subjects]"), picked.closest("li"));
});

// Enter searches and sends nothing. While characters are being composed it belongs to that.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("[data-subjects] input")) return;
  event.preventDefault();
  search(event.target.closest("[data-subjects]"));
});

// What was chosen is not what stands in the field any more.
document.addEventListener("input", (event) => {
  const finder = event.target.closest("[data-subjects]");
  if (finder?.querySelector(".found .state:not([hidden])")) finder.querySelector(".found").replaceChildren();
});

async function search(finder) {
  const input = finder.querySelector("input");
  const form = input.form;
  clearErrors(form);
  const wanted = subjectIn(input.value);
  if (!wanted) {
    input.focus();
    return;
  }
  const body = await ask(form, "GET", `${finder.dataset.subjects}?${new URLSearchParams({ q: wanted })}`);
  if (!body) return;
  const lines = body.items.map((subject) => found(finder, subject));
  finder.querySelector(".found").replaceChildren(...(lines.length ? lines : [line("li", text("none_found"), "line muted")]));
}

function found(finder, subject) {
  const item = finder.querySelector("template").content.cloneNode(true).firstElementChild;
  const facts = [subject.name_cn ? subject.name : "", subject.platform, subject.date, `#${subject.id}`];
  fill(item.querySelector(".name"), subject.name_cn || subject.name);
  fill(item.querySelector(".sub"), facts.filter(Boolean).join(" · "));
  item.dataset.subject = subject.id;
  const cover = item.querySelector("[data-cover]");
  cover.src = cover.dataset.cover + subject.id;
  return item;
}

function pick(finder, item) {
  const input = finder.querySelector("input");
  input.value = item.dataset.subject;
  if (input.form.dataset.picks === "send") {
    input.form.requestSubmit();
    return;
  }
  item.querySelector("[data-pick]").remove();
  item.querySelector(".state").hidden = false;
  finder.querySelector(".found").replaceChildren(item);
  input.focus();
  input.form.dispatchEvent(new CustomEvent("picked", { bubbles: true }));
}
