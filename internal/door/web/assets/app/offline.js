// Shown by the worker in the place of a page: it looks whether the service answers again, and comes back to the page then.
const look = async () => {
  try {
    if ((await fetch(document.documentElement.dataset.alive, { cache: "no-store" })).ok) location.reload();
  } catch {
    // still not
  }
};
setInterval(look, 5000);
addEventListener("online", look);
document.querySelector("button").addEventListener("click", () => location.reload());
