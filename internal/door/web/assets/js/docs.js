// The search of the documents, which finds as one types.
import { refresh } from "./live.js";

// The list of all documents is longer than a low window.
const list = document.querySelector(".docs-list");
const current = list.querySelector("[aria-current]");
if (current) list.scrollTop = current.offsetTop - list.clientHeight / 2;

let due = 0;

document.addEventListener("input", ({ target }) => {
  if (target.form?.id !== "docs-find") return;
  clearTimeout(due);
  due = setTimeout(async () => {
    const query = target.value.trim();
    const page = new URL(target.form.action);
    if (query) page.searchParams.set("q", query);
    // What is typed on a document is sent with Enter: it would be gone before one knows whether the search finds anything.
    if (new URL(location.href).pathname !== page.pathname) return;
    history.replaceState(null, "", page);
    await refresh({ also: "#docs-page" });
  }, 200);
});
