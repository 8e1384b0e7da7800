// The texts that scripts show, in the reader's language: a script before this one holds them.
const { words } = globalThis;

let figures; // made when first needed
const figure = (n) => (figures ??= new Intl.NumberFormat(document.documentElement.lang)).format(n);

/** The text of key; {name} in it is replaced by values.name. Numbers that name something, such as an episode, are handed in as strings. */
export function text(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? figure(values[name]) : values[name] ?? ""));
}

const most = 48 << 10; // bytes that are asked about at once; the service reads somewhat more
const waiting = []; // what the service was not asked about yet
let asking = false;

/**
 * What the service said, in the language of the page; the API and the logs speak English alone. Texts that nobody translated, and all when
 * the server does not answer, stay as they are. What comes during an answer is asked about together after it, as the lines of a log.
 */
export async function retold(texts) {
  if (!document.body.dataset.phrases) return texts;
  return Promise.all(texts.map((said) => said ? new Promise((tell) => {
    waiting.push({ said, tell, field: String(new URLSearchParams({ text: said })) });
    if (!asking) queueMicrotask(ask);
    asking = true;
  }) : said));
}

async function ask() {
  while (waiting.length) {
    let size = 0;
    const next = waiting.findIndex(({ field }, i) => (size += field.length + 1) > most && i > 0);
    const asked = waiting.splice(0, next < 0 ? waiting.length : next);
    const body = new URLSearchParams(asked.map(({ said }) => ["text", said]));
    const answer = await fetch(document.body.dataset.phrases, { method: "POST", body }).catch(() => null);
    const told = answer?.ok ? await answer.json().catch(() => []) : [];
    for (const [i, { said, tell }] of asked.entries()) tell(told[i] ?? said);
  }
  asking = false;
}
