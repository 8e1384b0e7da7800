// The entry of every page.
import "./forms.js";
import "./live.js";
import "./cron.js";
import "./figures.js";
import { followTask } from "./run.js";
import { showTimes } from "./time.js";
import { afterPaint, prepare } from "./ui.js";

prepare();
afterPaint(showTimes); // until then the times are those of the server, in its own zone
const followed = document.querySelector("[data-follow]");
if (followed) followTask(followed.dataset.follow);
// On a phone tabs scroll sideways, in a low window the entries of the menu scroll; the open one may be outside.
for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
  tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
}
document.querySelector("#nav [aria-current]")?.scrollIntoView({ block: "nearest" });

// A browser that has the pages installed, or notifies, has a worker: it gets that of this version and this language. Others need none.
if (navigator.serviceWorker) {
  const work = () => navigator.serviceWorker.register(document.body.dataset.worker).catch(() => {}); // the pages work without it
  if (navigator.serviceWorker.controller || matchMedia("(display-mode: standalone)").matches) work();
  addEventListener("appinstalled", work);
}
