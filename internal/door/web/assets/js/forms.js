// Forms that call the JSON API.
//   data-api      the method, to the address data-url; with data-query the fields go into the address
//   data-body     the JSON to send in place of the fields
//   data-leaves   how this browser is notified is sent in place of the fields
//   data-confirm  a question asked first
//   data-also     an address to post to after it, whose answer then counts
//   data-then     what follows: refresh (if it is missing), go to data-next, record (go to that of the answer), authorize
//                 (go where the answer leads), run (follow the task), reveal (show what is told once), tell (the event "answered" has the answer)
//   data-done     the message of success, data-failed that of an answer with "ok": false, data-REASON where that gives a reason
//   data-refused  the message where the answer tells a problem of what was saved
//   data-401 …    words for one status
// An element with data-working shows these words while the API works. The event "refused" tells of a problem, beside the
// message: its status, which is 0 when no answer came, the seconds to wait, and the problems of single fields.
import { inWords, reasonOf, text, wrong } from "./words.js";
import { confirmed, line, linked, linesOf, toast } from "./ui.js";
import { isFilled, refresh } from "./live.js";
import { followTask } from "./run.js";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-api]")) return;
  event.preventDefault();
  send(form, event.submitter ?? form.querySelector("button:not([type=button])"));
});

// A link with data-confirm is followed by whoever says yes.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-confirm]");
  if (!link || "sure" in link.dataset) return;
  event.preventDefault();
  if (!(await confirmed(link.dataset.confirm, link))) return;
  link.dataset.sure = "";
  link.click();
  delete link.dataset.sure;
});

async function send(form, button) {
  if (form.dataset.busy) return;
  if (form.dataset.confirm && !(await confirmed(form.dataset.confirm, button))) return;
  clearErrors(form);
  form.dataset.busy = "yes";
  form.querySelectorAll("button:not([type=button])").forEach((b) => b.setAttribute("aria-disabled", "true"));
  const working = form.querySelector("[data-working]");
  if (working) working.textContent = working.dataset.working;
  try {
    await call(form);
  } finally {
    delete form.dataset.busy;
    if (working) working.textContent = "";
    form.querySelectorAll("button[aria-disabled]").forEach((b) => b.removeAttribute("aria-disabled"));
  }
}

// Whoever leaves a page on which something was entered and not sent is asked first.
let leaving = false; // whether an answer leads to another page
const accepted = new WeakMap(); // what the service took of a field

/** What a field stands at, to be compared with what it stands at later. */
export function stateOf(field) {
  return `${"toStandard" in field.dataset} ${field.checked} ${field.value}`;
}

function isUnsaved(field) {
  if (!field.matches("input:not([type=hidden], [data-unmasks]), textarea, select") || field.disabled || field.matches(":autofill") || accepted.get(field) === stateOf(field)) return false;
  if (field.type === "file") return field.files.length > 0;
  if (field.tagName === "SELECT") return field.options.length > 0 && field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
  return "toStandard" in field.dataset || isFilled(field);
}

addEventListener("beforeunload", (event) => {
  const forms = [...document.querySelectorAll(".framed form:not([method=get], [method=dialog], [data-trial])")];
  if (!leaving && forms.some((form) => [...form.elements].some(isUnsaved))) event.preventDefault();
});
addEventListener("pageshow", () => { leaving = false; });

/** What stands in a form now; calling the answer says that the service took it, so that leaving loses nothing. */
export function entered(form) {
  const states = [...form.elements].map((field) => [field, stateOf(field)]);
  return () => states.forEach(([field, state]) => accepted.set(field, state));
}

/** How this browser is notified, so that it is no more; null when it is not. */
async function subscriptionHere() {
  const registration = await navigator.serviceWorker?.getRegistration();
  const subscription = await registration?.pushManager?.getSubscription();
  return subscription ? { endpoint: subscription.endpoint } : null;
}

async function call(form) {
  const took = entered(form);
  const fields = "leaves" in form.dataset ? await subscriptionHere() : bodyOf(form);
  const address = "query" in form.dataset ? `${form.dataset.url}?${new URLSearchParams(fields ?? {})}` : form.dataset.url;
  let body = await ask(form, form.dataset.api, address, "query" in form.dataset ? null : fields);
  if (body && form.dataset.also) body = await ask(form, "POST", form.dataset.also, null);
  if (!body) return;
  took();
  await follow(form, body);
}

/** The JSON of the answer; null when it was a problem, which is then shown, or when isStale says that it comes too late. */
export async function ask(form, method, address, fields, isStale = () => false) {
  const request = { method, headers: { Accept: "application/json" } };
  if (fields) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(fields);
  }
  let answer;
  try {
    answer = await fetch(address, request);
  } catch {
    showProblem(form, text("unreachable"), "");
    refuse(form, 0, 0, []);
    return null;
  }
  const body = await answer.json().catch(() => ({}));
  if (isStale()) return null;
  if (answer.ok) return body;
  await explain(form, answer, body);
  refuse(form, answer.status, waitOf(answer), body.errors ?? []);
  return null;
}

function refuse(form, status, wait, errors) {
  document.dispatchEvent(new CustomEvent("refused", { detail: { form, status, wait, errors } }));
}

/** How many seconds an answer asks to wait; 0 for none. */
function waitOf(answer) {
  return Number(answer.headers.get("Retry-After")) || 0;
}

async function follow(form, body) {
  switch (form.dataset.then) {
    case "go":
      leaving = true;
      location.assign(form.dataset.next);
      return;
    case "record":
      leaving = true;
      location.assign(form.dataset.next + body.record_ids[0]);
      return;
    case "authorize":
      leaving = true;
      location.assign(body.authorize_url);
      return;
    case "tell":
      document.dispatchEvent(new CustomEvent("answered", { detail: { form, body } })); // the form itself may be refreshed away
      return;
    case "run":
      if (form.dataset.done) toast(form.dataset.done);
      if (form.dataset.closes) document.getElementById(form.dataset.closes).hidden = true;
      followTask(body.task_id ?? body.id);
      await refresh();
      return;
    case "reveal": { // data-place shows what data-shows names of the answer, until the page is left
      const place = document.getElementById(form.dataset.place);
      place.querySelector("code").textContent = body[form.dataset.shows];
      place.hidden = false;
      form.reset();
      await refresh({ all: true });
      place.querySelector("code").focus();
      return;
    }
    default: {
      const typed = form.elements.username?.value.trim(); // of the account form: the token says whose list is marked
      const fold = form.closest("details.fold");
      if (fold) {
        form.reset();
        fold.open = false;
      } else if (form.dataset.api === "POST") {
        form.reset(); // what was added stands on the page now
      }
      if (body.ok === false) toast(form.dataset[body.reason] ?? form.dataset.failed, { tone: "bad", detail: (await inWords([reasonOf(body, "message")]))[0] });
      else if (form.dataset.refused && body.problem) toast(form.dataset.refused, { tone: "bad", detail: (await inWords([reasonOf(body, "problem")]))[0] });
      else if (typed && body.username && typed.toLowerCase() !== body.username.toLowerCase()) toast(text("token_of_another", { name: body.username, typed }), { tone: "bad" });
      else if (form.dataset.done) toast(form.dataset.done);
      if (body.unmarked_record_ids?.length) toast(text("taken_back", { count: body.unmarked_record_ids.length }));
      if (body.marks_left) toast(text("marks_left", { count: body.marks_left }), { tone: "warn" });
      if (body.rule_kept) toast(text("rule_kept"), { tone: "warn" });
      await refresh({ all: true });
    }
  }
}

/** The JSON body of a form; null when it has no fields. */
export function bodyOf(form) {
  if (form.dataset.body) return JSON.parse(form.dataset.body);
  const body = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled) continue;
    const [name, section] = field.name.split(".").reverse(); // section.name is a setting
    const place = section ? (body[section] ??= {}) : body;
    if ("list" in field.dataset) { // one of several checkboxes
      place[name] ??= [];
      if (field.checked) place[name].push(field.dataset.type === "number" ? Number(field.value) : field.value);
    } else if (!("optional" in field.dataset && field.value === "")) place[name] = valueOf(field);
  }
  return Object.keys(body).length ? body : null;
}

/** What a field stands for in JSON. */
export function valueOf(field) {
  if (field.type === "checkbox") return field.checked;
  switch (field.dataset.type) {
    case "bool":
      return field.value === "true";
    case "number":
      return field.dataset.times ? Math.round(field.value * field.dataset.times) : Number(field.value);
    case "moment": // of the reader's clock
      return field.value && new Date(field.value).toISOString();
    case "list": // which the API takes apart
      return field.value.trim() ? [field.value] : [];
    case "headers":
      return linesOf(field).map((header) => {
        const [name, ...value] = header.split(":");
        return { name: name.trim(), value: value.join(":").trim() };
      });
    case "subject":
      return Number(subjectIn(field.value));
    case "lines":
      return linesOf(field);
  }
  return field.value;
}

/** The number of an entry, typed or in the address of its page; what is neither stays as it is. */
export function subjectIn(value) {
  return /\/subject\/(\d+)/.exec(value)?.[1] ?? value.trim();
}

/** Shows a problem document (RFC 9457): at the fields it names, else at the form. */
export async function explain(form, answer, problem) {
  const status = answer.status;
  const errors = problem.errors ?? [];
  const [detail, ...messages] = await Promise.all([problem, ...errors].map(wrong));
  let placed = 0;
  for (const [i, { location = "" }] of errors.entries()) {
    const name = location.replace(/^(body|query)\.?/, "");
    const field = name && fieldAt(form, name);
    if (field instanceof HTMLElement && field.type !== "hidden") {
      markField(field, messages[i]);
      placed++;
    }
  }
  if (placed > 0) {
    form.querySelector("[aria-invalid=true]").focus();
    showProblem(form, form.dataset[String(status)] ?? text("fields"), "");
    return;
  }
  if (status === 400 && problem.reason) { // it says by itself what is wrong
    showProblem(form, detail, "");
    return;
  }
  const own = form.dataset[String(status)];
  const message = (own ?? text(`status_${status}`)).replace("{seconds}", waitOf(answer));
  const known = own || message !== `status_${status}`;
  showProblem(form, known ? message : text(status >= 500 ? "status_500" : "status_other"), own && status < 500 ? "" : detail);
}

/** The field for what a problem names, config.headers[0].value, or for what that is part of. */
function fieldAt(form, name) {
  const field = form.elements.namedItem(name);
  if (field instanceof RadioNodeList) return field[0];
  const outer = name.replace(/(\[\d+\]|[.[][^.[]*)$/, "");
  return field ?? (outer && outer !== name ? fieldAt(form, outer) : null);
}

export function showProblem(form, message, detail) {
  const place = form.querySelector(".form-error");
  if (!place) {
    toast(message, { tone: "bad", detail });
    return;
  }
  place.replaceChildren(line("p", message));
  if (detail) place.append(linked("p", detail, "sub"));
  place.hidden = false;
}

function markField(field, message) {
  for (let fold = field.closest("details:not([open])"); fold; fold = field.closest("details:not([open])")) fold.open = true;
  const error = line("p", message, "field-error");
  error.id = `${field.id}-error`;
  field.setAttribute("aria-invalid", "true");
  field.dataset.described = field.getAttribute("aria-describedby") ?? "";
  field.setAttribute("aria-describedby", `${error.id} ${field.dataset.described}`.trim());
  field.closest(".field, .check").append(error);
}

export function clearErrors(form) {
  form.querySelectorAll(".field-error").forEach((e) => e.remove());
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.setAttribute("aria-describedby", field.dataset.described);
  }
  const place = form.querySelector(".form-error");
  if (place) place.hidden = true;
}
