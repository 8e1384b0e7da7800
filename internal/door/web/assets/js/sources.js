// The rooms of the NAS and of the TV boxes: what an answer of the API says, in words, and the
// links of a table that swap it without leaving the page.
import { inWords, reasonOf, text } from "./words.js";
import { fill, line, visible } from "./ui.js";
import { refresh } from "./live.js";

const scanSeconds = 20; // the longest that a scan for boxes takes

// A link with data-swap shows another part of a live list; what is typed elsewhere on the page stays.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  history.replaceState(null, "", link.href);
  await refresh();
});

document.addEventListener("submit", ({ target: form }) => {
  if (form.id === "scan" && form.dataset.busy) watchScan(form);
});

document.addEventListener("answered", ({ detail: { form, body: answer } }) => {
  if (form.dataset.tells === "nas") tellNAS(form, answer);
  else if (form.id === "scan") tellScan(answer);
  else if (answer.after) tellSync(answer);
});

async function tellNAS(form, { taken, known, skipped, more, record_ids: records }) {
  const place = document.getElementById("nas-told");
  const earlier = form.elements.namedItem("range");
  const words = [text("nas_taken", { taken, known, skipped })];
  if (more) words.push(text(earlier ? "nas_more_earlier" : "nas_more"));
  place.replaceChildren(line("span", words.join(" ")));
  if (records.length) {
    const link = line("a", place.dataset.link);
    link.href = place.dataset.records;
    place.append(link);
  }
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
  // Who goes on with what was confirmed is not asked again.
  if (earlier) {
    form.dataset.question ??= form.dataset.confirm;
    if (more) delete form.dataset.confirm;
    else form.dataset.confirm = form.dataset.question;
  }
  await refresh();
}

// A change of what is asked for is confirmed anew.
document.addEventListener("change", ({ target: { form } }) => {
  if (form?.dataset.question && form.dataset.tells === "nas") form.dataset.confirm = form.dataset.question;
});

function watchScan(form) {
  const place = document.getElementById("scan-progress");
  const bar = place.querySelector("progress");
  const began = Date.now();
  place.hidden = false;
  const tick = setInterval(() => {
    bar.value = Math.min(scanSeconds, (Date.now() - began) / 1000);
    if (form.dataset.busy) return;
    clearInterval(tick);
    place.hidden = true;
  }, 100);
}

function show(...parts) {
  const place = document.getElementById("device-told");
  place.replaceChildren(...parts);
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
  place.focus({ preventScroll: true });
  refresh();
}

function tellScan({ complete, devices }) {
  const met = devices.filter((box) => box.online || box.name);
  const list = document.createElement("ul");
  list.className = "boxes";
  list.append(...met.map((box) => seen(box)));
  const words = [text(met.length ? "device.scan_found" : "device.scan_none", { count: met.filter((box) => box.online).length })];
  if (!complete) words.push(text("device.scan_partly"));
  show(line("p", words.join(" "), "goal"), list);
}

async function tellSync(sync) {
  const { before, after, event, marks } = sync;
  const [reason, ...messages] = await inWords([reasonOf(event, "reason") || reasonOf(sync, "reason"), ...marks.map((mark) => reasonOf(mark, "message"))]);
  const [was, is] = [seen(before, text("device.before")), seen(after, text("device.after"))];
  for (const [i, mark] of marks.entries()) {
    if (mark.account) was.append(line("p", list(mark.account, mark.marked_before), "sub"));
    const now = line("p", "", "sub");
    const link = line("a", text("device.record", { id: mark.record_id }));
    link.href = `${document.getElementById("device-told").dataset.records}/${mark.record_id}`;
    now.append(...visible([mark.account && list(mark.account, mark.marked_after), mark.subject_name, messages[i]].filter(Boolean).join(" · ")), " ", link);
    is.append(now);
  }
  const boxes = document.createElement("ul");
  boxes.className = "boxes";
  boxes.append(was, is);
  let words = text("device.not_taken", { why: reason });
  if (event) words = [text(`device.outcome.${event.outcome}`), event.title, event.label, reason].filter(Boolean).join(" · ");
  else if (!after.online) words = text("device.silent");
  show(line("p", words, "goal"), boxes);
}

/** Whether the list of an account has the mark. */
function list(account, marked) {
  return text(marked ? "device.marked" : "device.unmarked", { account });
}

/** One box as it answered. */
function seen(box, head = "") {
  const item = document.getElementById("seen-box").content.cloneNode(true).firstElementChild;
  fill(item.querySelector("h3"), [head, box.name || box.address].filter(Boolean).join(" · "));
  item.querySelector("[data-on]").hidden = !box.online;
  item.querySelector("[data-off]").hidden = box.online;
  fill(item.querySelector("p"), box.address);
  if (!box.online) return item;
  if (!box.now) {
    item.append(line("p", text("device.idle"), "sub"));
    return item;
  }
  const { title, label, state, share, live, reading } = box.now;
  const what = line("p", "");
  what.append(line("span", title, "name"), " ", line("span", label, "ep"));
  const facts = [text(`device.state.${state}`), text("device.share", { percent: Math.round(100 * share) }), live && text("device.live")];
  item.append(what, line("p", facts.filter(Boolean).join(" · "), "sub"), readingOf(reading));
  return item;
}

/** How a playback is read, or why it is never marked. */
function readingOf(reading) {
  const element = line("p", read(reading), "sub");
  if (reading.problem) inWords([reasonOf(reading, "problem")]).then(([why]) => fill(element, text("device.not_read", { why })));
  return element;
}

function known(key) {
  const words = text(key);
  return words === key ? undefined : words;
}

function read({ title, base_title: base, kind, season, episodes, from, how, problem }) {
  if (problem) return text("device.not_read", { why: problem });
  const parts = [base || title];
  if (season === 0) parts.push(text("device.specials"));
  else if (season !== null) parts.push(text("device.season", { n: season }));
  if (episodes.length) parts.push(text("device.episode", { n: episodes.join(", ") }));
  if (kind !== "episode") parts.push(text(`device.kind.${kind}`));
  const words = text("device.read", { what: parts.join(" · ") });
  return from ? `${words} · ${text(`device.from.${from}`)}${how ? ` (${known(`device.how.${how}`) ?? how})` : ""}` : words;
}
