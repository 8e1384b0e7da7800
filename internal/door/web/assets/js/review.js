// The keys of the page of questions. They work on the card that has the focus, or holds it; Enter on a button
// stays the button's. The figures choose in the first card while none has the focus.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select")) return;
  const cards = [...document.querySelectorAll("#review .question")];
  if (!cards.length) return;
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  if (event.key === "j" || event.key === "k") {
    const next = at < 0 ? 0 : Math.max(0, Math.min(cards.length - 1, at + (event.key === "j" ? 1 : -1)));
    cards[next].focus({ preventScroll: true });
    cards[next].scrollIntoView({ block: "nearest" });
    return;
  }
  if (/^[1-9]$/.test(event.key)) {
    cards[Math.max(at, 0)].querySelectorAll(".choice button")[event.key - 1]?.focus();
    return;
  }
  if (at < 0) return;
  if (event.key === "Enter" && document.activeElement !== cards[at]) return;
  cards[at].querySelector(`form[data-key="${CSS.escape(event.key)}"]`)?.requestSubmit();
});

// Whom the answers of a card hold for: everybody, or the one person that the owner chose.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-whom]")) return;
  for (const form of event.target.closest(".question").querySelectorAll('form[data-api="POST"]')) {
    const address = form.dataset.url.split("?")[0];
    form.dataset.url = event.target.value ? `${address}?person_id=${encodeURIComponent(event.target.value)}` : address;
  }
});
