// Follows a task of the service: its progress and its debug log, as they come.
import { inWords, reasonOf, text } from "./words.js";
import { fill, line, sentence, toast } from "./ui.js";
import { timeAs } from "./time.js";
import { refresh } from "./live.js";

const most = 500; // lines that the page keeps
const longest = 600; // characters of what a line adds to its message; its stream has all
let stream = null;

/** Shows the task with the id until it has ended, in the part of the page that is made for it. */
export function followTask(id) {
  const place = document.getElementById("run");
  const list = place.querySelector(".log");
  const address = place.dataset.tasks + id;
  const cancel = place.querySelector("[data-cancel]");
  stream?.close();
  list.replaceChildren();
  list.hidden = true;
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
  cancel.onclick = async () => {
    const answer = await fetch(`${address}/cancel`, { method: "POST" }).catch(() => null);
    if (answer?.ok || answer?.status === 409) return; // which says that it ended meanwhile
    toast(text(answer ? "status_other" : "unreachable"), { tone: "bad" });
  };
  stream = new EventSource(`${address}/stream`);
  stream.addEventListener("log", ({ data }) => {
    list.hidden = false;
    write(list, most, entryOf(data));
  });
  stream.addEventListener("progress", ({ data }) => show(place, JSON.parse(data)));
  stream.addEventListener("result", async ({ data }) => {
    stream.close();
    const task = JSON.parse(data);
    let reason;
    [task.message, reason] = await inWords([reasonOf(task, "message"), reasonOf(task.result, "reason")]);
    if (reason) task.result.reason = reason;
    show(place, task);
    document.dispatchEvent(new CustomEvent("ended", { detail: task }));
    refresh();
  });
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) setText(place, text("run_lost"));
  });
}

function show(place, task) {
  const long = task.kind !== "retry"; // one record is soon done, and better not stopped half-way
  const running = task.state === "running";
  place.querySelector("[data-cancel]").hidden = !(long && running);
  const bar = place.querySelector("progress");
  bar.hidden = !(long && running && task.total);
  bar.max = task.total || 1;
  bar.value = task.done;
  setText(place, descriptions[task.kind]?.(task) ?? text(running && !task.total ? "run_busy" : `run_${task.state}`, task));
}

// The kinds of tasks that have texts of their own.
const descriptions = {
  retry_failed: (task) => `${text(`run_${task.state}`, task)} ${task.result ? text("run_tally", task.result) : ""}`.trim(),
  assign_user: (task) => `${text(`run_${task.state}`, task)} ${task.result ? text("run_tally", task.result) : ""}`.trim(),
  correct: (task) => [text(`run_${task.state}`, task), task.result && text("run_corrected", task.result), task.result?.retried && text("run_tally", task.result)].filter(Boolean).join(" "),
  archive_import: (task) => {
    if (task.state === "running") return text(`import_${task.message}`, { percent: Math.floor((100 * task.done) / (task.total || 1)) });
    if (task.state === "done") return text(`imported_${task.result.outcome}`, task.result);
    return ended(task);
  },
  dataset_refresh: (task) => {
    if (task.state === "running") return text("refresh_running");
    if (task.state === "done") return text(`refreshed_${task.result.outcome}`, task.result);
    return ended(task);
  },
  backup: (task) => describe(task, "backup_running", "backup_done"),
  device_sync: (task) => {
    if (task.state !== "done") return describe(task, "boxes_asked", "");
    const { devices, online } = task.result;
    return devices ? [text("boxes_found", { devices }), online && text("boxes_on", { online })].filter(Boolean).join(" ") : text("device.scan_none");
  },
  snapshot: (task) => describe(task, "list_reading", "list_read"),
  snapshot_file: (task) => describe(task, "run_running", "list_read"),
  restore_preview: (task) => describe(task, "restore_looking", "restore_looked"),
  restore: (task) => describe(task, "restoring", "restored"),
  restore_undo: (task) => describe(task, "restoring", "restored"),
  undo: (task) => describe(task, "undoing", "undone"),
  undo_preview: (task) => describe(task, "undo_looking", "undo_looked"),
  import_preview: (task) => describe(task, "looking_up", "looked_up"),
  tracker_preview: (task) => describe(task, "looking_up", "looked_up"),
  import: (task) => describe(task, "taking_in", "taken_in"),
  tracker_sync: (task) => task.state === "done" ? task.result.map((one) => text(`tracker_${one.outcome}`, one)).join(" ") : describe(task, "history_read", ""),
  server_sync: (task) => describe(task, "server_read", "server_caught_up"),
  server_seed: (task) => describe(task, "seeding", "seeded"),
  server_undo: (task) => describe(task, "seeding", "seeded"),
  tracker_device: (task) => describe(task, "code_waits", "signed_in"),
};

// describe is the text of a task by two keys: one while it runs, and one once it is done.
function describe(task, running, done) {
  if (task.state === "running") return text(running, { ...task, total: task.total || "?" });
  if (task.state === "done") return text(done, task.result ?? {});
  return ended(task);
}

function ended(task) {
  return text(`run_${task.state}`, task.state === "failed" ? { message: task.result?.reason ?? task.message } : task);
}

function setText(place, words) {
  fill(place.querySelector("[role=status]"), words);
}

function entryOf(data) {
  const { time, level, msg: message, ...facts } = JSON.parse(data);
  return { time, level, message, facts };
}

const tones = { ERROR: "bad", WARN: "warn" };

function folded(words, content) {
  const part = document.createElement("details");
  const facts = line("pre", content);
  facts.lang = "en";
  part.append(line("summary", words), facts);
  return part;
}

/** Puts a line at the end of a log that keeps so many of them; marks stand before its message. Whoever reads the end goes on reading it. */
export function write(list, kept, { time, level, message, facts }, ...marks) {
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  const item = line("li", "", tones[level] ?? "");
  const what = document.createElement("strong");
  what.append(sentence(message, "bdi", ""));
  item.append(timeAs("clock", time), ...marks, what);
  const why = ["error", "problem", "reason"].map((name) => reasonOf(facts, name)).find(Boolean);
  if (why?.text || typeof why === "string") item.append(sentence(why, "bdi", "muted"));
  const rest = Object.keys(facts).filter((name) => !name.endsWith("_value")).sort().map((name) => `${name}: ${typeof facts[name] === "string" ? facts[name] : JSON.stringify(facts[name])}`).join("\n");
  if (rest) item.append(folded(list.dataset.details, rest.length > longest ? `${rest.slice(0, longest)}…` : rest));
  list.append(item);
  while (list.children.length > kept) list.firstElementChild.remove();
  if (atEnd) list.scrollTop = list.scrollHeight;
}

// The page of one task follows its log; the rest of it is fetched anew.
const log = document.querySelector("[data-stream]");
if (log) {
  const lines = new EventSource(log.dataset.stream);
  lines.addEventListener("open", () => log.replaceChildren(), { once: true });
  lines.addEventListener("log", ({ data }) => write(log, most, entryOf(data)));
  lines.addEventListener("result", () => {
    lines.close();
    refresh();
  });
}
