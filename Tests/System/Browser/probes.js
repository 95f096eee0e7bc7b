// SPDX-License-Identifier: Apache-2.0
// What a hostile page can try on an address of another origin. Each probe tells what the page saw of one address: an event, a
// status, a length, whatever a script can get hold of. Two addresses that a page can tell apart have told it something.

const wait = (milliseconds, value) => new Promise((done) => setTimeout(done, milliseconds, value));
const within = (promise, milliseconds = 8000) => Promise.race([promise, wait(milliseconds, 'nothing')]);

const tellResponse = async (response) => {
  let text = '';
  try { text = await response.text(); } catch (error) { text = error.name; }
  return `${response.type} ${response.status} ${[...response.headers].length} headers, ${text.length} characters`;
};
const tellFetch = (promise) => within(promise.then(tellResponse, (error) => error.name));

/** An element that loads something, and the event that follows. */
const element = (tag, set, events = ['load', 'error']) => (url) => within(new Promise((done) => {
  const node = document.createElement(tag);
  for (const event of events) {
    node.addEventListener(event, () => {
      let seen = event;
      for (const name of ['naturalWidth', 'naturalHeight', 'duration', 'videoWidth']) if (node[name]) seen += ` ${name} ${node[name]}`;
      if (node.sheet) { try { seen += ` ${node.sheet.cssRules.length} rules`; } catch (error) { seen += ' ' + error.name; } }
      if (node.error) seen += ` code ${node.error.code}`;
      node.remove();
      done(seen);
    });
  }
  set(node, url);
  document.body.append(node);
}), 4000);

/** A window or frame of the address, as far as its opener sees it; that it has the address it was given is no news. */
const tellWindow = (view, url) => {
  let seen = `${view.length} frames`;
  for (const read of [() => view.location.href, () => view.document.title, () => view.origin, () => view.history.length]) {
    try { seen += ' ' + String(read()).split('?')[0].replace(url.split('?')[0], 'it').slice(0, 60); } catch (error) { seen += ' ' + error.name; }
  }
  return seen;
};
const frame = (set) => (url) => within(new Promise((done) => {
  const node = document.createElement('iframe');
  node.name = 'frame' + Math.random();
  const finish = (event) => { const seen = event + ' ' + tellWindow(node.contentWindow, url); node.remove(); done(seen); };
  node.onload = () => finish('load');
  node.onerror = () => finish('error');
  set(node, url);
  if (!node.isConnected) document.body.append(node);
}), 4000);
const form = (method, type) => frame((node, url) => {
  // The empty page of a new frame is loaded first.
  const finish = node.onload;
  node.onload = null;
  document.body.append(node);
  node.onload = finish;
  const sender = document.createElement('form');
  sender.method = method;
  sender.enctype = type;
  sender.target = node.name;
  sender.action = url;
  const field = document.createElement('input');
  field.name = '{"where":"TRUEPREDICATE","x":"';
  field.value = '"}';
  sender.append(field);
  document.body.append(sender);
  sender.submit();
  sender.remove();
});

const fromWorker = (script) => (url) => within(new Promise((done) => {
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
  worker.onmessage = (event) => { worker.terminate(); done(event.data); };
  worker.onerror = (event) => { worker.terminate(); done('error ' + event.message); };
  worker.postMessage(url);
}));

/** What the browser's own clock of loaded things says. */
const entry = (url) => {
  const seen = performance.getEntriesByName(url).at(-1);
  return seen ? `${seen.responseStatus} ${seen.transferSize} ${seen.encodedBodySize} ${seen.nextHopProtocol}` : 'no entry';
};

const probes = {
  'fetch': (url) => tellFetch(fetch(url)),
  'fetch, credentials': (url) => tellFetch(fetch(url, { credentials: 'include' })),
  'fetch, no-cors': (url) => tellFetch(fetch(url, { mode: 'no-cors' })),
  'fetch, from cache': (url) => tellFetch(fetch(url, { mode: 'no-cors', cache: 'force-cache' })),
  'fetch, no referrer': (url) => tellFetch(fetch(url, { mode: 'no-cors', referrerPolicy: 'no-referrer' })),
  'fetch, HEAD': (url) => tellFetch(fetch(url, { method: 'HEAD', mode: 'no-cors' })),
  'fetch, keepalive': (url) => tellFetch(fetch(url, { mode: 'no-cors', keepalive: true })),
  'fetch, QUERY': (url) => tellFetch(fetch(url, { method: 'QUERY', body: '{}', headers: { 'Content-Type': 'application/json' } })),
  'fetch, POST of JSON': (url) => tellFetch(fetch(url, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } })),
  'fetch, POST of text': (url) => tellFetch(fetch(url, { method: 'POST', mode: 'no-cors', body: '{}' })),
  'fetch, PUT': (url) => tellFetch(fetch(url, { method: 'PUT', body: '{}' })),
  'fetch, DELETE': (url) => tellFetch(fetch(url, { method: 'DELETE' })),
  'fetch, own header': (url) => tellFetch(fetch(url, { headers: { 'X-Forwarded-For': '127.0.0.1' } })),
  'fetch, range': (url) => tellFetch(fetch(url, { mode: 'no-cors', headers: { Range: 'bytes=0-1' } })),
  'fetch, redirected here': (url) => tellFetch(fetch('/redirect?' + encodeURIComponent(url), { mode: 'no-cors' })),
  'fetch, redirected here, cors': (url) => tellFetch(fetch('/redirect?' + encodeURIComponent(url))),
  'XMLHttpRequest': (url) => within(new Promise((done) => {
    const request = new XMLHttpRequest();
    request.onloadend = () => done(`${request.status} ${request.responseText.length} ${request.getAllResponseHeaders().length}`);
    request.open('GET', url);
    request.send();
  })),
  'beacon': async (url) => { const sent = navigator.sendBeacon(url, '{}'); await wait(300); return `${sent}`; },
  'resource timing': async (url) => { await within(fetch(url, { mode: 'no-cors' }).catch(() => 0)); await wait(50); return entry(url); },
  'image': element('img', (node, url) => { node.src = url; }),
  'image, cors': element('img', (node, url) => { node.crossOrigin = 'anonymous'; node.src = url; }),
  'image, redirected here': element('img', (node, url) => { node.src = '/redirect?' + encodeURIComponent(url); }),
  'image button': element('input', (node, url) => { node.type = 'image'; node.src = url; }),
  'script': element('script', (node, url) => { node.src = url; }),
  'script, module': element('script', (node, url) => { node.type = 'module'; node.src = url; }),
  'import()': (url) => within(import(url).then(() => 'module', (error) => error.name)),
  'stylesheet': element('link', (node, url) => { node.rel = 'stylesheet'; node.href = url; }),
  'prefetch': element('link', (node, url) => { node.rel = 'prefetch'; node.href = url; }),
  'preload': element('link', (node, url) => { node.rel = 'preload'; node.as = 'script'; node.href = url; }),
  'modulepreload': element('link', (node, url) => { node.rel = 'modulepreload'; node.href = url; }),
  'video': element('video', (node, url) => { node.src = url; }, ['loadedmetadata', 'error']),
  'audio': element('audio', (node, url) => { node.src = url; }, ['loadedmetadata', 'error']),
  'object': element('object', (node, url) => { node.data = url; }),
  'embed': element('embed', (node, url) => { node.src = url; }),
  'font': (url) => within(new FontFace('probe', `url(${JSON.stringify(url)})`).load().then(() => 'font', (error) => error.name)),
  'iframe': frame((node, url) => { node.src = url; }),
  'iframe, sandboxed': frame((node, url) => { node.sandbox = 'allow-scripts'; node.src = url; }),
  'iframe, no referrer': frame((node, url) => { node.referrerPolicy = 'no-referrer'; node.src = url; }),
  'iframe, redirected here': frame((node, url) => { node.src = '/redirect?' + encodeURIComponent(url); }),
  'form, GET': form('GET', 'text/plain'),
  'form, POST of text': form('POST', 'text/plain'),
  'form, POST of parts': form('POST', 'multipart/form-data'),
  'popup': async (url) => {
    const view = window.open(url, '_blank');
    if (!view) return 'no window';
    await wait(1500);
    const seen = `closed ${view.closed} ${tellWindow(view, url)}`;
    view.close();
    return seen;
  },
  'EventSource': (url) => within(new Promise((done) => {
    const source = new EventSource(url);
    const finish = (seen) => { source.close(); done(seen); };
    source.onopen = () => finish('open');
    source.onmessage = (event) => finish('message ' + event.data.length);
    source.onerror = () => finish('error');
  }), 4000),
  'WebSocket': (url) => within(new Promise((done) => {
    const channel = new WebSocket(url.replace('http', 'ws'));
    channel.onopen = () => done('open');
    channel.onclose = (event) => done(`closed ${event.code} ${event.wasClean}`);
  }), 4000),
  'worker': (url) => within(new Promise((done) => {
    try {
      const worker = new Worker(url);
      worker.onerror = () => done('error');
      worker.onmessage = () => done('message');
    } catch (error) { done(error.name); }
  }), 2000),
  'worker, importScripts': fromWorker('onmessage = (e) => { try { importScripts(e.data); postMessage("ran"); } catch (error) { postMessage(error.name); } }'),
  'worker, fetch': fromWorker('onmessage = (e) => fetch(e.data, {mode: "no-cors"}).then((r) => postMessage(r.type + r.status), (error) => postMessage(error.name))'),
  'service worker there': (url) => !navigator.serviceWorker ? 'none' : within(navigator.serviceWorker.register(url).then(() => 'registered', (error) => error.name)),
  'service worker here, fetch': async (url) => {
    if (!navigator.serviceWorker) return 'none';
    await within(navigator.serviceWorker.register('/worker.js'));
    const registration = await within(navigator.serviceWorker.ready);
    return within(new Promise((done) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = (event) => done(event.data);
      registration.active.postMessage(url, [channel.port2]);
    }), 4000);
  },
  'ping of a link': async (url) => {
    const link = document.createElement('a');
    link.href = '#';
    link.ping = url;
    document.body.append(link);
    link.click();
    link.remove();
    await wait(300);
    return 'sent';
  },
  'speculation rules': async (url) => {
    const script = document.createElement('script');
    script.type = 'speculationrules';
    script.textContent = JSON.stringify({ prefetch: [{ urls: [url], eagerness: 'immediate' }], prerender: [{ urls: [url], eagerness: 'immediate' }] });
    document.head.append(script);
    await wait(500);
    script.remove();
    return 'sent';
  },
  'report of a violation': (url) => within(new Promise((done) => {
    const node = document.createElement('iframe');
    node.onload = () => setTimeout(() => { node.remove(); done('sent'); }, 300);
    node.src = '/reporting?' + encodeURIComponent(url);
    document.body.append(node);
  })),
};

/** What a probe saw, and after how many milliseconds. */
async function probe(name, url) {
  const begin = performance.now();
  let seen;
  try { seen = await probes[name](url); } catch (error) { seen = 'thrown ' + error.name; }
  return { seen: String(seen), milliseconds: performance.now() - begin };
}
