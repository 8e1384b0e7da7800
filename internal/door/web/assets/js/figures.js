// The charts of days: the day under the pointer, or the one that was tapped, is shown in place of the sum.
import { text } from "./words.js";
import { dayOf } from "./time.js";

// How days lie in a drawing, in its own units (figures.go): which one is at a place, and its outline.
const barStep = 10;
const bars = {
  at: (x) => Math.floor(x / barStep),
  outline: (number) => `M${barStep * number} 0h7v100h-7z`,
};
const cellStep = 13;
const cells = {
  at: (x, y, height) => {
    const weekday = 6 - Math.floor((height - y) / cellStep);
    return weekday < 0 ? -1 : 7 * Math.floor(x / cellStep) + weekday;
  },
  outline: (number, height) => `M${cellStep * Math.floor(number / 7) + 1} ${height - cellStep * (7 - (number % 7)) + 1}h8v8h-8z`,
};
const drawings = { trend: bars, usage: bars, year: cells };

function point(event) {
  for (const name of Object.keys(drawings)) {
    const drawing = document.getElementById(`${name}-drawing`);
    if (drawing) showDay(name, drawing, event);
  }
}

function showDay(name, drawing, { target, clientX, clientY }) {
  const { at, outline } = drawings[name];
  const frame = drawing.getBoundingClientRect();
  const { width, height } = drawing.viewBox.baseVal;
  const number = drawing.contains(target) ? at(((clientX - frame.left) / frame.width) * width, ((clientY - frame.top) / frame.height) * height, height) : -1;
  const counts = drawing.dataset.days.split(" ")[number];
  const day = document.getElementById(`${name}-day`);
  const here = drawing.querySelector(".here");
  day.hidden = counts === undefined;
  document.getElementById(`${name}-sum`).hidden = !day.hidden;
  here.toggleAttribute("hidden", day.hidden);
  if (day.hidden) return;
  const date = new Date(`${drawing.dataset.first}T00:00`);
  date.setDate(date.getDate() + number);
  const what = counts.split(",").map(Number).flatMap((n, kind) => (n ? text(`day_of.${name}.${kind}`, { n }) : []));
  day.textContent = text("day_of", { day: dayOf(date), what: what.join(text("day_of_and")) || text("day_of_nothing") });
  here.setAttribute("d", outline(number, height));
}

for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, point);
