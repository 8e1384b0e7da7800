// The texts that scripts show, in the reader's language: a script before this one holds them.
const { words } = globalThis;

let figures; // made when first needed
const figure = (n) => (figures ??= new Intl.NumberFormat(document.documentElement.lang)).format(n);

/** The text of key; {name} in it is replaced by values.name. Numbers that name something, such as an episode, are handed in as strings. */
export function text(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? figure(values[name]) : values[name] ?? ""));
}

/** What the API said, in the language of the page; the API speaks English alone. Texts that nobody translated, and all when the server does not answer, stay as they are. */
export async function retold(texts) {
  const { phrases } = document.body.dataset;
  if (!phrases || !texts.some(Boolean)) return texts;
  const answer = await fetch(phrases, { method: "POST", body: new URLSearchParams(texts.map((said) => ["text", said])) }).catch(() => null);
  return answer?.ok ? answer.json() : texts;
}
