// The texts that scripts show, in the reader's language: a script before this one holds them.
const { words } = globalThis;

let figures; // made when first needed
const figure = (n) => (figures ??= new Intl.NumberFormat(document.documentElement.lang)).format(n);

/**
 * The text of key; {name} in it is replaced by values.name. Numbers that name something, such as an episode, are handed in as strings.
 * A list stands in brackets, with bars between its parts: those whose number is 0 are left out. A part without a number is for when no other is left.
 */
export function text(key, values = {}) {
  const said = (words[key] ?? key).replace(/\[(.*?)\]/g, (_, list) => {
    const parts = list.split("|");
    const counted = parts.filter((part) => part.includes("{") && values[/\{(\w+)\}/.exec(part)[1]]);
    return (counted.length ? counted : parts.filter((part) => !part.includes("{"))).join(words.comma);
  });
  return said.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? figure(values[name]) : values[name] ?? ""));
}

const most = 48 << 10; // bytes that are asked about at once; the service reads somewhat more
const waiting = []; // what the service was not asked about yet
let asking = false;

/** What the service says in a field of an answer: a reason with the field's own text in English, which may be a whole sentence, or that text. */
export function reasonOf(answer, field) {
  const english = answer?.[field] ?? "";
  const reason = answer?.[`${field}_value`];
  return reason ? { ...reason, text: english || reason.text } : english;
}

/** What is wrong with a request, or with one of its fields, in the language of the page: that is how the API answers a reason. */
export async function wrong({ reason, detail, message }) {
  const english = detail ?? message ?? "";
  return document.body.dataset.reasons && reason?.code ? reason.text : (await inWords([english]))[0];
}

/**
 * Reasons in the language of the page; texts stay in English. So do all when the server does not answer.
 * What comes during an answer is asked about together after it, as the lines of a log.
 */
export async function inWords(reasons) {
  if (!document.body.dataset.reasons) return reasons.map((reason) => reason.text ?? reason);
  return Promise.all(reasons.map((reason) => reason ? new Promise((tell) => {
    waiting.push({ reason, tell, size: new TextEncoder().encode(JSON.stringify(reason)).length });
    if (!asking) queueMicrotask(ask);
    asking = true;
  }) : reason));
}

async function ask() {
  while (waiting.length) {
    let size = 0;
    const next = waiting.findIndex((one, i) => (size += one.size + 1) > most && i > 0);
    const asked = waiting.splice(0, next < 0 ? waiting.length : next);
    const body = JSON.stringify(asked.map(({ reason }) => reason));
    const answer = await fetch(document.body.dataset.reasons, { method: "POST", headers: { "Content-Type": "application/json" }, body }).catch(() => null);
    const texts = answer?.ok ? await answer.json().catch(() => []) : [];
    for (const [i, { reason, tell }] of asked.entries()) tell(texts[i] ?? reason.text ?? reason);
  }
  asking = false;
}
