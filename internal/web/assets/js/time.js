// Retells every time on the page in the reader's zone, and keeps "3 minutes ago" true.
import { text } from "./words.js";

const lang = document.documentElement.lang;
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "always" });
const day = new Intl.DateTimeFormat(lang, { dateStyle: "medium" });
const at = new Intl.DateTimeFormat(lang, { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
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

/** Brings the times below root up to date: how long ago, or with data-at the day and time. */
export function tell(root = document) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const then = new Date(element.dateTime);
    const now = "at" in element.dataset ? at.format(then) : words(then);
    if (element.textContent !== now) element.textContent = now;
    const title = exact.format(then);
    if (element.title !== title) element.title = title;
  }
}

setInterval(tell, 20000);
