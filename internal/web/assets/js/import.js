// The form that imports a history: it asks the server who there is, then previews or runs. What
// opens the server stays in the form.
import { text } from "./words.js";
import { confirmed, line } from "./ui.js";
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
  describe();
}

/** Says what address and token of the chosen server are like. */
function describe() {
  const chosen = form.querySelector("[name=source]:checked");
  form.elements.url.placeholder = chosen.dataset.example;
  for (const words of form.querySelectorAll("[data-source]")) words.hidden = words.dataset.source !== chosen.value;
}

/** What the server said is about what was entered then. */
function forget() {
  who.hidden = true;
  form.querySelector("[data-said]").textContent = "";
}

const address = () => ({ source: form.elements.source.value, url: form.elements.url.value.trim(), token: form.elements.token.value.trim() });

const choice = () => ({ ...address(), user: form.elements.user.value, libraries: [...form.querySelectorAll("[name=libraries]:checked")].map(({ value }) => value) });

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
  form.dataset.busy = "yes";
  const buttons = form.querySelectorAll("button");
  buttons.forEach((one) => one.setAttribute("aria-disabled", "true"));
  const said = form.querySelector("[data-said]");
  said.textContent = text("server_asked");
  try {
    if (asks) {
      const about = await ask(form, "POST", form.dataset.server, address());
      if (about) choose(about);
    } else {
      const task = await ask(form, "POST", runs ? form.dataset.run : form.dataset.preview, choice());
      if (task) {
        followTask(task.id);
        await refresh();
      }
    }
  } finally {
    said.textContent = "";
    delete form.dataset.busy;
    buttons.forEach((one) => one.removeAttribute("aria-disabled"));
  }
}

/** Shows the users and libraries of a server. */
function choose(about) {
  users = about.users;
  const select = form.elements.user;
  // Who has an account comes first: for others nothing can be imported.
  select.replaceChildren(...users.toSorted((a, b) => (b.accounts.length > 0) - (a.accounts.length > 0)).map(({ id, name }) => new Option(name, id)));
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
  head.querySelector("[data-name]").textContent = about.name;
  lead();
  head.focus();
  who.scrollIntoView({ block: "nearest" });
}

/** Says which account the chosen user leads to, or what to do when there is none. */
function lead() {
  const chosen = users.find(({ id }) => id === form.elements.user.value);
  const help = document.getElementById("import-user-help");
  const routed = chosen?.accounts.length > 0;
  help.textContent = chosen ? text(routed ? "import_leads" : "import_leads_nowhere", { name: chosen.name, accounts: chosen.accounts.join(", ") }) : text("import_nobody");
  if (!routed) {
    const link = line("a", text("import_to_accounts"));
    link.href = form.dataset.accounts;
    help.append(" ", link);
  }
  help.classList.toggle("bad", !routed);
  for (const go of who.querySelectorAll("button")) go.disabled = !routed;
}
