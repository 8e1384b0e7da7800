// The service worker of the pages. It does three things, and keeps no page, no answer of the API and nothing of a sign-in:
//   it shows the page "offline" when the service cannot be reached,
//   it shows what is pushed to this device,
//   it sends the answer of somebody who taps a button of a notification.
// Its address holds the version and the language: another one is another worker, which takes the place of this one.
const { scope } = self.registration;
const kept = `watchmark offline ${scope} `;
const shelf = kept + self.location.search;
const offline = new URL(`offline${self.location.search}`, scope).href;

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(
    (async () => {
      const answer = await fetch(offline, { credentials: "omit", cache: "reload" });
      if (!answer.ok) throw new Error(`the page "offline" has the status ${answer.status}`);
      await (await caches.open(shelf)).put(offline, answer);
    })(),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name.startsWith(kept) && name !== shelf) await caches.delete(name);
      await self.clients.claim();
    })(),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode !== "navigate" || request.method !== "GET" || request.url.startsWith(`${scope}api/`)) return;
  event.respondWith(fetch(request).catch(async () => (await caches.match(offline)) ?? Response.error()));
});

self.addEventListener("push", (event) => {
  event.waitUntil(show(event.data.json()));
});

/** Shows a message (browser.go of the channels has its form), or what became of an answer. */
function show({ title, text = "", tag, page, lang, at, failed, actions = [] }) {
  return self.registration.showNotification(title, {
    body: text,
    tag,
    lang,
    timestamp: at,
    icon: new URL("icon-192.png", scope).href,
    badge: new URL("badge.png", scope).href,
    data: { title, tag, page, lang, failed, tokens: actions.map(({ token }) => token) },
    actions: actions.map(({ title: label }, i) => ({ action: `answer-${i}`, title: label })),
  });
}

self.addEventListener("notificationclick", (event) => {
  const { action, notification } = event;
  notification.close();
  const { data } = notification;
  const token = data.tokens[Number(/^answer-(\d)$/.exec(action)?.[1] ?? NaN)];
  event.waitUntil(token ? answer(data, token) : open(data.page));
});

/** Sends the answer that a token stands for. It needs no sign-in, and tells of none. */
async function answer({ title, tag, page, lang, failed }, token) {
  const later = { title, tag, page, lang };
  try {
    const said = await fetch(new URL("api/push/answers", scope), {
      method: "POST",
      credentials: "omit",
      headers: { "Content-Type": "application/json", Accept: "application/json", "Accept-Language": lang || "en" },
      body: JSON.stringify({ token }),
    });
    const body = await said.json();
    await show(said.ok ? { ...later, ...body } : { ...later, text: body.reason?.text ?? body.detail });
  } catch {
    await show({ ...later, text: failed });
  }
}

async function open(page) {
  const address = new URL(`.${page}`, scope).href;
  const shown = (await self.clients.matchAll({ type: "window" })).find(({ url }) => url === address);
  return shown ? shown.focus() : self.clients.openWindow(address);
}

// The browser gave itself another address. Whoever is not signed in any more switches it on anew.
self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(
    (async () => {
      const now = event.newSubscription ?? (await self.registration.pushManager.subscribe(event.oldSubscription.options));
      await fetch(new URL("api/push/subscriptions", scope), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(now),
      });
    })(),
  );
});
