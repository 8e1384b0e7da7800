// The first steps of connecting a media server: what is at an address, whether its certificate is the right one, and the
// sign-in. What follows is on the page of the login.
import { fill } from "./ui.js";

const wizard = document.getElementById("wizard");
const found = document.getElementById("found");

if (wizard) {
  document.addEventListener("answered", ({ detail: { form, body } }) => {
    if (form.id === "probe") show(body);
    else location.assign(`${wizard.dataset.next}${body.id}?new`);
  });
  document.addEventListener("refused", ({ detail: { form, status } }) => {
    if (form.id === "probe" && status === 422) document.getElementById("unfound").hidden = false;
  });
  document.getElementById("probe").elements.url.addEventListener("input", () => {
    found.hidden = true;
    document.getElementById("unfound").hidden = true;
    step(1);
  });
  wizard.addEventListener("click", ({ target }) => {
    const url = document.getElementById("probe").elements.url.value.trim();
    if (target.closest("[data-by-hand]")) show({ kind: "ugreen", url, server_name: "", version: "", codes: true });
    if (target.closest("[data-trust]")) trust();
  });
  document.getElementById("server-kind").addEventListener("change", describe);
}

let at = null; // what was found

/** Shows what was found at the address, and how to sign in there. */
function show(answer) {
  at = answer;
  const kind = document.querySelector(`#kinds [data-kind="${at.kind}"]`).textContent;
  fill(found.querySelector("[data-name]"), at.server_name || kind);
  fill(found.querySelector("[data-about]"), [at.server_name && kind, at.version].filter(Boolean).join(" "));
  fill(found.querySelector("[data-url]"), at.url);
  const [password, code] = ["password", "by-code"].map((id) => document.getElementById(id));
  for (const form of [password, code]) {
    form.elements.url.value = at.url;
    form.elements.certificate_sha256.value = "";
  }
  if (at.kind !== "plex") password.elements.kind.value = at.kind;
  password.hidden = at.kind === "plex";
  fill(found.querySelector("[data-pin]"), (at.certificate_sha256 ?? "").toUpperCase().replace(/..(?=.)/g, "$&:"));
  found.querySelector("[data-certificate]").hidden = !at.certificate_sha256;
  found.querySelector("[data-ways]").hidden = Boolean(at.certificate_sha256);
  document.getElementById("unfound").hidden = true;
  found.hidden = false;
  step(2);
  describe();
  found.querySelector("h2").focus();
  found.scrollIntoView({ block: "nearest" });
}

/** Says at which of the steps the person is. */
function step(n) {
  for (const [i, one] of document.querySelectorAll(".wizard-steps li").entries()) {
    if (i + 1 === n) one.setAttribute("aria-current", "step");
    else one.removeAttribute("aria-current");
  }
}

/** The person said that the certificate is that of the server. */
function trust() {
  for (const id of ["password", "by-code"]) document.getElementById(id).elements.certificate_sha256.value = at.certificate_sha256;
  found.querySelector("[data-certificate]").hidden = true;
  found.querySelector("[data-ways]").hidden = false;
  (at.kind === "plex" ? document.getElementById("by-code").querySelector("button") : document.getElementById("server-user")).focus();
}

/** Says what the user of the chosen kind is, and whether there is a way without a password. */
function describe() {
  const code = document.getElementById("by-code");
  const kind = at.kind === "plex" ? "plex" : document.getElementById("server-kind").value;
  for (const help of found.querySelectorAll("[data-for]")) help.hidden = help.dataset.for !== kind;
  for (const words of code.querySelectorAll("[data-code-of]")) words.hidden = words.dataset.codeOf !== kind;
  code.hidden = !(kind === "plex" || (kind === "jellyfin" && at.codes));
  code.elements.kind.value = kind;
  code.querySelector("button").classList.toggle("primary", kind === "plex");
}
