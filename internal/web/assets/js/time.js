// Retells every time on the page in the reader's zone, and keeps "3 minutes ago" true.
import { text } from "./words.js";

const lang = document.documentElement.lang;
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "always" });
const day = new Intl.DateTimeFormat(lang, { dateStyle: "medium" });
const at = new Intl.DateTimeFormat(lang, { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" });
const exact = new Intl.DateTimeFormat(lang, { dateStyle: "full", timeStyle: "long" });

function words(then) {
  const seconds = (then - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return text("now");
  if (size < 3600) return relative.format(Math.round(seconds / 60) || Math.sign(seconds), "minute");
  if (size < 86400) return relative.format(Math.trunc(seconds / 3600), "hour");
  if (size < 7 * 86400) return relative.format(Math.trunc(seconds / 86400), "day");
  return day.format(then);
}

function told({ dataset }, then) {
  if ("clock" in dataset) return clock.format(then);
  return "at" in dataset ? at.format(then) : words(then);
}

function retell(element) {
  const then = new Date(element.dateTime);
  const now = told(element, then);
  if (element.textContent !== now) element.textContent = now;
  const title = exact.format(then);
  if (element.title !== title) element.title = title;
}

/** Brings the times below root up to date: how long ago, with data-at the day and time, or with data-clock the time to the millisecond. */
export function tell(root = document) {
  root.querySelectorAll("time[datetime]").forEach(retell);
}

/** A new element that tells a time in a form: "at" or "clock". */
export function timeAs(form, when) {
  const element = document.createElement("time");
  element.dateTime = when;
  element.dataset[form] = "";
  retell(element);
  return element;
}

setInterval(() => tell(), 20000);
