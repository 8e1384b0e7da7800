// The entry of every page.
import "./forms.js";
import "./live.js";
import "./cron.js";
import "./figures.js";
import { followTask } from "./run.js";
import { tell } from "./time.js";
import { afterPaint, prepare } from "./ui.js";

prepare();
afterPaint(tell); // the server told the times already, in its own zone
const followed = document.querySelector("[data-follow]");
if (followed) followTask(followed.dataset.follow);
// On a phone the tabs scroll sideways; the open one may be outside.
const tab = document.querySelector(".tabs [aria-current]");
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
