// Notifications of this device: what stands in the way of them, subscribing to them, and a test.
import { inWords, reasonOf, text } from "./words.js";
import { line } from "./ui.js";
import { ask } from "./forms.js";

const panel = document.querySelector("[data-push]");
const form = panel?.querySelector("form");
let channel; // the id of that of this device, once it has one

const bytesOf = (base64url) => Uint8Array.from(atob(base64url.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const isKey = (key) => key && btoa(String.fromCharCode(...new Uint8Array(key))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "") === panel.dataset.key;

function show(state) {
  for (const part of panel.querySelectorAll("[data-is]")) part.hidden = part.dataset.is !== state;
}

// What tells which state this device is in. An iPhone has notifications in what was added to the home screen alone.
async function stateOf() {
  if (!isSecureContext) return "insecure";
  if (!("PushManager" in window) || !("Notification" in window)) {
    const apple = /iPhone|iPad/.test(navigator.userAgent) || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1);
    return apple && !navigator.standalone ? "install" : "unsupported";
  }
  if (Notification.permission === "denied") return "denied";
  const registration = await navigator.serviceWorker.getRegistration();
  const now = await registration?.pushManager.getSubscription();
  if (!now || Notification.permission !== "granted" || !isKey(now.options.applicationServerKey)) return "off";
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(now.endpoint)));
  const digest = [...sum].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  channel = panel.dataset.known.split(" ").find((one) => one.startsWith(digest))?.split(":")[1];
  return channel ? "on" : "off";
}

async function subscribe() {
  await navigator.serviceWorker.register(document.body.dataset.worker);
  const { pushManager } = await navigator.serviceWorker.ready;
  const before = await pushManager.getSubscription();
  if (before && isKey(before.options.applicationServerKey)) return before;
  await before?.unsubscribe(); // of another service that stood at this address
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(panel.dataset.key) });
}

function tell(tone, ...lines) {
  const place = form.querySelector(".tried");
  place.className = `tried note ${tone}`;
  place.hidden = false;
  const said = document.createElement("div");
  said.append(...lines);
  place.replaceChildren(said);
}

async function start() {
  if ((await Notification.requestPermission()) !== "granted") return show(await stateOf());
  tell("", line("p", text("push_starting")));
  // Where the push service cannot be reached, a browser tries for minutes and says nothing.
  const slow = setTimeout(() => tell("", line("p", text("push_starting")), line("p", text("push_slow"))), 10_000);
  let now;
  try {
    now = await subscribe();
  } catch (problem) {
    tell("bad", line("p", text("push_failed"), "goal"), line("p", text("push_failed_about")), line("p", String(problem.message ?? problem), "muted"));
    return;
  } finally {
    clearTimeout(slow);
  }
  const added = await ask(form, "POST", panel.dataset.push, now.toJSON());
  form.querySelector(".tried").hidden = true;
  if (!added) return;
  channel = added.id;
  show("on");
  await test();
}

async function test() {
  tell("", line("p", text("channel_testing")));
  const result = await ask(form, "POST", `${panel.dataset.channels}${channel}/test`, null);
  form.querySelector(".tried").hidden = true;
  if (!result) return;
  if (result.ok) return tell("good", line("p", text("push_arrived")));
  const why = await inWords([reasonOf(result, "problem"), reasonOf(result, "advice")].filter(Boolean));
  tell("bad", line("p", text("channel_refused"), "goal"), ...why.map((said) => line("p", said)));
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  try {
    await (event.submitter.dataset.is === "on" ? test() : start());
  } finally {
    delete form.dataset.busy;
  }
});

if (panel) stateOf().then(show);
