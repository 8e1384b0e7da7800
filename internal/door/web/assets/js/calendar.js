// Asks for the calendar in the reader's time zone, which the service cannot know.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const here = new URL(location.href);
if (timeZone && document.getElementById("calendar-bar") && !here.searchParams.has("zone")) {
  here.searchParams.set("zone", timeZone);
  location.replace(here);
}
