// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The site's search runs in a worker, which browsers refuse to a page that was opened as a file.
// There it runs in a hidden frame instead, which the theme knows by the name IFrameWorker.
if (location.protocol === "file:") {
  const loadScripts = function (...urls) {
    const load = (url) =>
      new Promise((done, failed) => {
        const script = document.createElement("script");
        Object.assign(script, { src: url, onload: done, onerror: failed });
        document.body.appendChild(script);
      });
    return urls.reduce((before, url) => before.then(() => load(url)), Promise.resolve());
  };
  window.IFrameWorker = class extends EventTarget {
    onmessage = null;
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const page = this.frame.contentDocument;
      page.open();
      page.write(
        "<body><script>postMessage = (data) => parent.postMessage(data, '*');" +
          `importScripts = ${loadScripts};</script><script src="${url}"></script></body>`,
      );
      page.close();
      this.ready = new Promise((done) => {
        this.frame.onload = done;
      });
      window.addEventListener("message", (event) => {
        if (event.source !== this.frame.contentWindow) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      });
    }
    postMessage(data) {
      const message = new MessageEvent("message", { data });
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(message));
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
