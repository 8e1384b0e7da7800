// The form that imports a history: it asks the server who there is, then previews or runs. What
// opens the server stays in the form.
import { text } from "./words.js";
import { confirmed, fill, line, spelled } from "./ui.js";
import { ask, clearErrors } from "./forms.js";
import { refresh } from "./live.js";
import { followTask } from "./run.js";

const form = document.getElementById("import");
const who = document.getElementById("import-who");
let users = [];

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.dataset.busy) send(event.submitter);
  });
  form.addEventListener("input", ({ target }) => {
    if (["source", "url", "token"].includes(target.name)) forget();
    if (target.name === "source") describe();
    if (target.name === "user") lead();
  });
  form.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-add]");
    if (button && !form.dataset.busy) add(button);
  });
  describe();
}

/** Says what address and token of the chosen server are like. */
function describe() {
  const chosen = form.querySelector("[name=source]:checked");
  form.elements.url.placeholder = chosen.dataset.example;
  for (const words of form.querySelectorAll("[data-source]")) words.hidden = words.dataset.source !== chosen.value;
}

/** The answer of the server is out of date when a field changes. */
function forget() {
  who.hidden = true;
  form.querySelector("[data-said]").textContent = "";
}

const address = () => ({ source: form.elements.source.value, url: form.elements.url.value.trim(), token: form.elements.token.value.trim() });

const choice = () => ({ ...address(), user: form.elements.user.value, libraries: [...form.querySelectorAll("[name=libraries]:checked")].map(({ value }) => value) });

/** Does one request at a time, and says meanwhile what is being done. */
async function during(words, work) {
  const buttons = form.querySelectorAll("button");
  const status = form.querySelector("[data-said]");
  form.dataset.busy = "yes";
  buttons.forEach((one) => one.setAttribute("aria-disabled", "true"));
  status.textContent = words;
  try {
    await work();
  } finally {
    status.textContent = "";
    delete form.dataset.busy;
    buttons.forEach((one) => one.removeAttribute("aria-disabled"));
  }
}

async function send(button) {
  const asks = who.hidden || button?.matches("[data-ask]");
  const runs = button?.matches("[data-run-go]");
  clearErrors(form);
  if (!asks && !choice().libraries.length) {
    const list = form.querySelector(".libraries");
    list.append(line("p", text("import_choose"), "field-error"));
    list.querySelector("input")?.focus();
    return;
  }
  if (runs && !(await confirmed(form.dataset.question, button))) return;
  await during(text("server_asked"), async () => {
    if (asks) {
      const about = await ask(form, "POST", form.dataset.server, address());
      if (about) choose(about);
      return;
    }
    const task = await ask(form, "POST", runs ? form.dataset.run : form.dataset.preview, choice());
    if (!task) return;
    followTask(task.id);
    await refresh();
  });
}

/** Adds the chosen user to an account. */
async function add({ dataset: { add: address, account } }) {
  const chosen = chosenUser();
  clearErrors(form);
  await during(text("import_adding"), async () => {
    if (!(await ask(form, "POST", address, { name: chosen.name }))) return;
    chosen.accounts.push(account);
    lead();
    form.elements.user.focus();
  });
}

/** Shows the users and libraries of a server. */
function choose(about) {
  users = about.users;
  const select = form.elements.user;
  // Who has an account comes first: for others nothing can be imported.
  select.replaceChildren(...users.toSorted((a, b) => (b.accounts.length > 0) - (a.accounts.length > 0)).map(({ id, name }) => new Option(spelled(name), id)));
  const list = form.querySelector(".libraries .checks");
  list.replaceChildren(...about.libraries.map(({ id, name }) => {
    const label = line("label", "", "check");
    const box = document.createElement("input");
    Object.assign(box, { type: "checkbox", name: "libraries", value: id, checked: about.libraries.length === 1 });
    label.append(box, line("span", name));
    return label;
  }));
  who.hidden = false;
  const head = who.querySelector("h2");
  fill(head.querySelector("[data-name]"), about.name);
  lead();
  head.focus();
  who.scrollIntoView({ block: "nearest" });
}

const chosenUser = () => users.find(({ id }) => id === form.elements.user.value);

/** Says which account the chosen user leads to, or offers one when there is none. */
function lead() {
  const chosen = chosenUser();
  const help = document.getElementById("import-user-help");
  const adds = form.querySelector("[data-adds]");
  const routed = chosen?.accounts.length > 0;
  const addable = chosen && !routed && adds.children.length > 0;
  if (routed) fill(help, text("import_leads", { name: chosen.name, accounts: chosen.accounts.join(", ") }));
  else fill(help, chosen ? text(addable ? "import_leads_nowhere" : "import_no_account", { name: chosen.name }) : text("import_nobody"));
  if (chosen && !routed && !addable) {
    const link = line("a", text("import_to_accounts"));
    link.href = form.dataset.accounts;
    help.append(" ", link);
  }
  help.classList.toggle("bad", !routed);
  adds.hidden = !addable;
  for (const go of who.querySelectorAll("[data-preview-go], [data-run-go]")) go.disabled = !routed;
}
