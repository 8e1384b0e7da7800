// Forms that send one file as it is: data-upload is the address, which answers a task. The
// other fields, and the button that sends it, are sent in the query. A button with data-question asks first.
import { text } from "./words.js";
import { clearErrors, entered, explain, showProblem } from "./forms.js";
import { refresh } from "./live.js";
import { followTask } from "./run.js";
import { confirmed } from "./ui.js";

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-upload]")) return;
  event.preventDefault();
  const { submitter } = event;
  if (submitter?.dataset.question && !(await confirmed(submitter.dataset.question, submitter))) return;
  if (!form.dataset.busy) send(form, submitter);
});

function send(form, button) {
  clearErrors(form);
  const took = entered(form);
  const bar = form.querySelector("progress");
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form, button)) if (typeof value === "string") query.set(name, value);
  const request = new XMLHttpRequest(); // fetch does not tell how far an upload is
  request.open("POST", `${form.dataset.upload}?${query}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.responseType = "json";
  request.upload.addEventListener("progress", ({ loaded, total }) => { bar.value = loaded / (total || 1); });
  request.addEventListener("loadend", () => {
    delete form.dataset.busy;
    bar.hidden = true;
    if (request.status === 0) {
      showProblem(form, text("upload_lost"), "");
    } else if (request.status >= 300) {
      explain(form, { status: request.status, headers: new Headers() }, request.response ?? {});
    } else {
      took();
      const fold = form.closest("details"); // without one the file may be sent again, otherwise
      if (fold) {
        form.reset();
        fold.open = false;
      }
      followTask(request.response.task_id);
      refresh();
    }
  });
  form.dataset.busy = "yes";
  bar.value = 0;
  bar.hidden = false;
  request.send(form.querySelector("input[type=file]").files[0]);
}
