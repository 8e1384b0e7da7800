// Writes every time on the page in the reader's time zone, and keeps "3 minutes ago" up to date.
import { text } from "./words.js";

const { lang } = document.documentElement;
// A format is made when it is first used, because making one takes milliseconds.
const formats = {
  relative: () => new Intl.RelativeTimeFormat(lang, { numeric: "always" }),
  day: () => new Intl.DateTimeFormat(lang, { dateStyle: "medium" }),
  at: () => new Intl.DateTimeFormat(lang, { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }),
  year: () => new Intl.DateTimeFormat(lang, { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }),
  second: () => new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" }),
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
  if ("at" in dataset) return format(then.getFullYear() === new Date().getFullYear() ? "at" : "year", then);
  return distance(then);
}

function rewrite(element) {
  const then = new Date(element.dateTime);
  const now = textOf(element, then);
  if (element.textContent !== now) element.textContent = now;
  const title = format("exact", then);
  if (element.title !== title) element.title = title;
}

// A choice among times tells them to the second.
function rewriteOption(option) {
  const words = format("second", new Date(option.dataset.time));
  if (option.textContent !== words) option.textContent = words;
}

// A field with data-begins has the beginning of the reader's day, or the next minute, until something else is entered.
function begin(field) {
  if (field.value !== field.defaultValue || field === document.activeElement) return;
  const at = new Date();
  if (field.dataset.begins === "day") at.setHours(0, 0);
  else at.setMinutes(at.getMinutes() + 1);
  const local = new Date(at - at.getTimezoneOffset() * 60000); // whose UTC is the reader's clock
  field.setAttribute("value", local.toISOString().slice(0, 16));
}

/** Updates the times below root: the distance to now, with data-at day and time, or with data-clock the time with milliseconds. */
export function showTimes(root = document) {
  root.querySelectorAll("time[datetime]").forEach(rewrite);
  root.querySelectorAll("option[data-time]").forEach(rewriteOption);
  root.querySelectorAll("input[data-begins]").forEach(begin);
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
