// The entry of every page.
import "./forms.js";
import "./live.js";
import { tell } from "./time.js";
import { prepare } from "./ui.js";

tell();
prepare();
// On a phone the tabs scroll sideways; the open one may be outside.
const tab = document.querySelector(".tabs [aria-current]");
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
