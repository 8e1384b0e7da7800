// The texts that scripts show; the server puts them on <body> in the reader's language.
const words = JSON.parse(document.body.dataset.words);

/** The text of key; {name} in it is replaced by values.name. */
export function text(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}
