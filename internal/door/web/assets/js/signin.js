// Signing in, where a code of an authenticator app is the second step, and what is shown once:
// recovery codes, which can be saved as a file.
import { line } from "./ui.js";
import { refresh } from "./live.js";

document.addEventListener("answered", ({ detail: { form, body } }) => {
  if (form.id === "login") return body.needs_code ? askCode(form) : location.assign(form.dataset.next);
  if (body.recovery_codes) showRecoveryCodes(body.recovery_codes);
});

function askCode(form) {
  form.dataset[401] = form.dataset.wrongCode;
  for (const step of form.querySelectorAll("[data-step]")) step.hidden = step.dataset.step !== "code";
  form.querySelector("[data-use-recovery]").hidden = false;
  document.querySelector(".other-way")?.remove(); // the code is asked for after the password alone
  form.elements.code.required = true;
  form.elements.code.focus();
}

document.addEventListener("refused", ({ detail: { form, status } }) => {
  if (form.id !== "login" || status !== 401 || !form.elements.code.required) return;
  form.elements.code.value = "";
  form.elements.code.focus();
});

document.addEventListener("click", ({ target }) => {
  const recovery = target.closest("[data-use-recovery]");
  if (recovery) {
    const { code } = recovery.form.elements;
    for (const place of recovery.form.querySelectorAll("[data-recovery]")) place.textContent = place.dataset.recovery;
    code.inputMode = "text";
    code.autocomplete = "off";
    code.value = "";
    code.focus();
    recovery.hidden = true;
  }
  const save = target.closest("[data-save]");
  if (save) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([save.closest("[data-copy]").querySelector("code").textContent + "\n"], { type: "text/plain" }));
    link.download = save.dataset.save;
    link.click();
    URL.revokeObjectURL(link.href);
  }
});

async function showRecoveryCodes(codes) {
  const place = document.getElementById("recovery-codes");
  place.querySelector("code").replaceChildren(...codes.map((code) => line("span", `${code}\n`)));
  place.hidden = false;
  await refresh({ all: true });
  document.querySelector("#recovery-codes pre").focus();
}

// Who signed out by hand is not notified here any more.
if (new URLSearchParams(location.search).has("signed_out")) {
  navigator.serviceWorker?.getRegistration().then(async (registration) => (await registration?.pushManager.getSubscription())?.unsubscribe());
}
