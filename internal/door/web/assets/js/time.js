// Writes every time on the page in the reader's time zone, and keeps "3 minutes ago" up to date.
import { text } from "./words.js";

const { lang } = document.documentElement;
// A format is made when it is first used, because making one takes milliseconds.
const formats = {
  relative: () => new Intl.RelativeTimeFormat(lang, { numeric: "always" }),
  day: () => new Intl.DateTimeFormat(lang, { dateStyle: "medium" }),
  at: () => new Intl.DateTimeFormat(lang, { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }),
  clock: () => new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" }),
  exact: () => new Intl.DateTimeFormat(lang, { dateStyle: "full", timeStyle: "long" }),
};
const made = {};
const format = (name, ...values) => (made[name] ??= formats[name]()).format(...values);

function distance(then) {
  const seconds = (then - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return text(seconds > 0 ? "soon" : "now");
  if (size < 3600) return format("relative", Math.round(seconds / 60) || Math.sign(seconds), "minute");
  if (size < 86400) return format("relative", Math.trunc(seconds / 3600), "hour");
  if (size < 7 * 86400) return format("relative", Math.trunc(seconds / 86400), "day");
  return format("day", then);
}

function textOf({ dataset }, then) {
  if ("clock" in dataset) return format("clock", then);
  return "at" in dataset ? format("at", then) : distance(then);
}

function rewrite(element) {
  const then = new Date(element.dateTime);
  const now = textOf(element, then);
  if (element.textContent !== now) element.textContent = now;
  const title = format("exact", then);
  if (element.title !== title) element.title = title;
}

/** Updates the times below root: the distance to now, with data-at day and time, or with data-clock the time with milliseconds. */
export function showTimes(root = document) {
  root.querySelectorAll("time[datetime]").forEach(rewrite);
}

/** A date as text. */
export function dayOf(date) {
  return format("day", date);
}

/** A new element with a time in a form: "at" or "clock". */
export function timeAs(form, when) {
  const element = document.createElement("time");
  element.dateTime = when;
  element.dataset[form] = "";
  rewrite(element);
  return element;
}

setInterval(() => showTimes(), 20000);
