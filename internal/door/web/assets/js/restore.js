// Entries of a list that are ticked to be brought back.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-tick]");
  if (!button) return;
  for (const box of boxesOf(button.form)) box.checked = button.dataset.tick === "all";
  count(button.form);
});

document.addEventListener("change", ({ target }) => {
  if (!target.form?.matches("[data-ticked]")) return;
  // What may be taken away is of an entry that is brought back.
  if (target.name === "lower" && target.checked) for (const box of boxesOf(target.form)) if (box.value === target.value) box.checked = true;
  count(target.form);
});

const boxesOf = (form) => [...form.elements].filter((field) => field.name === "entries");

// count says how many are ticked; without any there is nothing to ask for.
function count(form) {
  const ticked = boxesOf(form).filter((box) => box.checked).length;
  for (const place of form.querySelectorAll("[data-count]")) place.textContent = ticked.toLocaleString(document.documentElement.lang);
  for (const button of form.querySelectorAll("button:not([type=button])")) button.disabled = ticked === 0;
}

for (const form of document.querySelectorAll("form[data-ticked]")) count(form);
