// Entries of a list that are ticked to be brought back. Of one with data-held nothing is written but what its other box, "lower", allows to be taken away.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-tick]");
  if (!button) return;
  const all = button.dataset.tick === "all";
  for (const box of boxesOf(button.form)) if (!all || !("held" in box.dataset)) box.checked = all;
  if (!all) for (const box of boxesOf(button.form, "lower")) box.checked = false;
  count(button.form);
});

document.addEventListener("change", ({ target }) => {
  const { form, name, value, checked } = target;
  if (!form?.matches("[data-ticked]")) return;
  if (name === "lower") {
    for (const box of boxesOf(form)) if (box.value === value && (checked || "held" in box.dataset)) box.checked = checked;
  } else if (!checked) {
    for (const box of boxesOf(form, "lower")) if (box.value === value) box.checked = false;
  }
  count(form);
});

const boxesOf = (form, name = "entries") => [...form.elements].filter((field) => field.name === name);

// count says how many are ticked; without any there is nothing to ask for.
function count(form) {
  const ticked = boxesOf(form).filter((box) => box.checked).length;
  for (const place of form.querySelectorAll("[data-count]")) place.textContent = ticked.toLocaleString(document.documentElement.lang);
  for (const button of form.querySelectorAll("button:not([type=button])")) button.disabled = ticked === 0;
}

// Whoever comes back finds the ticks that the browser kept.
addEventListener("pageshow", () => document.querySelectorAll("form[data-ticked]").forEach(count));
