// Signing in at the tracker: by a code that comes by mail, in two steps, and by a code that is
// typed in there. Both end; how long they last is counted down, for screen readers at a calm pace.
import { text } from "./words.js";
import { fill, toast } from "./ui.js";
import { refresh } from "./live.js";
import { followTask } from "./run.js";

const kept = "watchmark-tracker-mail"; // a phone may drop the page while its mail is read

const life = 300; // seconds for which a code of the mail is good
const announced = [600, 300, 240, 180, 120, 60, 30, 10]; // screen readers announce these numbers of seconds left

const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
const left = (end) => Math.max(0, Math.ceil((end - Date.now()) / 1000));

document.addEventListener("answered", ({ detail: { form, body: answer } }) => {
  switch (form.id) {
    case "mail-start":
      wait({ email: form.elements.email.value, ends: Date.now() + 1000 * answer.expires_in, again: Date.now() + 1000 * answer.retry_after });
      return;
    case "mail-code":
      done();
      toast(text("signed_in", answer));
      refresh();
      return;
  }
  if (answer.user_code) showCode(answer);
  if ("revoked" in answer) {
    toast(text(answer.revoked ? "tracker_left" : "tracker_left_here"), { tone: answer.revoked ? "good" : "warn" });
    refresh();
  }
});

document.addEventListener("refused", ({ detail: { form, status, wait: seconds, errors } }) => {
  // A mail was sent less than a minute ago, maybe to a page that is gone: its code is still good. A problem with the
  // address says that it was for another one.
  if (form.id === "mail-start" && status === 429 && seconds && !errors.length) {
    wait({ email: form.elements.email.value, ends: Date.now() + 1000 * (life - 60 + seconds), again: Date.now() + 1000 * seconds });
  } else if (form.id === "mail-start") form.hidden = false; // where the problem is shown
  // With the seconds until a new code can be had, a wrong code was the last one.
  if (form.id === "mail-code" && waiting && (status === 409 || (status === 401 && seconds))) {
    waiting.ends = 0;
    if (seconds) waiting.again = Date.now() + 1000 * seconds;
    show();
  }
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-mail-other]")) done();
  if (target.closest("[data-mail-again]") && waiting && left(waiting.again) === 0) {
    const start = document.getElementById("mail-start");
    start.elements.email.value = waiting.email;
    start.requestSubmit();
  }
});

document.addEventListener("ended", ({ detail: { kind } }) => {
  if (kind === "tracker_device") document.getElementById("device-code").hidden = true; // used, refused or over
});

let waiting = null; // the mail whose code is waited for
let ticking = 0;

function wait(mail) {
  waiting = mail;
  sessionStorage.setItem(kept, JSON.stringify(mail));
  const form = document.getElementById("mail-code");
  const fresh = form.hidden;
  document.getElementById("mail-start").hidden = true;
  form.hidden = false;
  form.elements.email.value = mail.email;
  fill(form.querySelector("[data-address]"), mail.email);
  form.querySelector(".form-error").hidden = true;
  form.elements.otp.value = "";
  if (fresh) form.elements.otp.focus();
  else toast(text("mail_sent"));
  clearInterval(ticking);
  ticking = setInterval(show, 1000);
  show();
}

function show() {
  const form = document.getElementById("mail-code");
  const [code, mail] = [left(waiting.ends), left(waiting.again)];
  form.querySelector("[data-countdown=mail_left]").textContent = code ? text("mail_left", { time: minutes(code) }) : text("mail_over");
  form.querySelector("[data-countdown=mail_again]").textContent = mail ? text("mail_again", { time: minutes(mail) }) : "";
  form.querySelector("[data-mail-again]").setAttribute("aria-disabled", String(mail > 0));
  form.querySelector(".primary").disabled = form.elements.otp.disabled = code === 0;
  setText(form.querySelector("[role=status]"), [calm("mail_left", "mail_over", code), mail ? "" : text("mail_may")]);
  if (!code && !mail) clearInterval(ticking);
}

/** How long is left, in steps that need not be read out every second. */
function calm(key, over, seconds) {
  if (!seconds) return text(over);
  const step = announced.findLast((one) => one >= seconds);
  return step ? text(key, { time: step >= 60 ? text("minutes", { n: step / 60 }) : text("seconds", { n: step }) }) : "";
}

function setText(place, parts) {
  const words = parts.filter(Boolean).join(" ");
  if (place.textContent !== words) place.textContent = words;
}

function done() {
  clearInterval(ticking);
  waiting = null;
  sessionStorage.removeItem(kept);
  const form = document.getElementById("mail-code");
  form.reset();
  form.hidden = true;
  const start = document.getElementById("mail-start");
  start.reset();
  start.hidden = false;
}

// The code that is typed in at the tracker. The task tells what became of it.
function showCode({ user_code: code, verification_url: url, expires_at: end, task_id: id }) {
  const place = document.getElementById("device-code");
  const link = place.querySelector("a");
  fill(link, url);
  if (/^https?:\/\//.test(url)) link.href = url;
  else link.removeAttribute("href");
  place.querySelector("code").textContent = code;
  place.hidden = false;
  followTask(id);
  place.focus();
  const ends = new Date(end).getTime();
  const counter = place.querySelector("[data-countdown]");
  const status = place.querySelector("[role=status]");
  const tick = () => {
    const seconds = left(ends);
    counter.textContent = seconds ? text("code_left", { time: minutes(seconds) }) : text("code_over");
    setText(status, [calm("code_left", "code_over", seconds)]);
    if (!seconds || place.hidden) clearInterval(counting);
  };
  const counting = setInterval(tick, 1000);
  tick();
}

const stored = document.getElementById("mail-code") && sessionStorage.getItem(kept);
if (stored) {
  const mail = JSON.parse(stored);
  if (left(mail.ends)) wait(mail);
  else sessionStorage.removeItem(kept);
}
