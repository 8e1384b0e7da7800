// The page that asks for a rating and a comment. What stood on the list when it was shown goes along: the service writes nothing where that has
// changed, and then the page shows what is there now and keeps what was entered.
import { toast } from "./ui.js";
import { ask, clearErrors, entered, showProblem } from "./forms.js";
import { refresh } from "./live.js";

const form = document.getElementById("word");

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.dataset.busy) send();
  });
  form.addEventListener("input", count);
  document.addEventListener("refused", ({ detail }) => {
    if (detail.form === form && detail.status === 409) refresh();
  });
  count();
}

/** What the page shows to be on the list. */
function shown() {
  const { rate, comment } = document.querySelector("#word-now dl").dataset;
  return { rate: Number(rate), comment };
}

/** How many characters the service counts. */
function lengthOf(comment) {
  return [...comment.normalize("NFC").trim()].length;
}

function count() {
  const place = document.getElementById("word-count");
  const most = Number(place.dataset.most);
  const length = lengthOf(form.elements.comment.value);
  const over = length > most;
  place.textContent = (over ? place.dataset.over : place.dataset.text).replace("{count}", length).replace("{most}", most);
  place.classList.toggle("over", over);
}

async function send() {
  clearErrors(form);
  const was = shown();
  const said = { rate: Number(form.querySelector("[name=rate]:checked").value), comment: form.elements.comment.value };
  if (said.rate === was.rate && said.comment.trim() === was.comment.trim()) {
    showProblem(form, form.dataset.same, "");
    return;
  }
  form.dataset.busy = "yes";
  const took = entered(form);
  try {
    const answer = await ask(form, "PUT", form.dataset.url, { ...said, shown: was });
    if (!answer) return;
    took();
    document.getElementById("word-hidden").hidden = !answer.hidden;
    toast(form.dataset.done);
    await refresh();
  } finally {
    delete form.dataset.busy;
  }
}
