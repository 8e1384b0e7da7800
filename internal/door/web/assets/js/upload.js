// Forms that send one file as it is: data-upload is the address, which answers a task. A
// checkbox is sent in the query.
import { text } from "./words.js";
import { clearErrors, explain, showProblem } from "./forms.js";
import { followTask } from "./run.js";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-upload]")) return;
  event.preventDefault();
  if (!form.dataset.busy) send(form);
});

function send(form) {
  clearErrors(form);
  const bar = form.querySelector("progress");
  const query = new URLSearchParams([...form.querySelectorAll("input[type=checkbox]:checked")].map(({ name }) => [name, "true"]));
  const request = new XMLHttpRequest(); // fetch does not tell how far an upload is
  request.open("POST", `${form.dataset.upload}?${query}`);
  request.setRequestHeader("Content-Type", "application/zip");
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
      form.reset();
      form.closest("details").open = false;
      followTask(request.response.task_id);
    }
  });
  form.dataset.busy = "yes";
  bar.value = 0;
  bar.hidden = false;
  request.send(form.querySelector("input[type=file]").files[0]);
}
