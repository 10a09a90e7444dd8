// The search runs in a Worker, which browsers refuse to a page that was opened from a file. There a
// frame that nobody sees takes its place. The plugin `offline` would fetch such a script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = (this.inside = frame.contentWindow);
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = () => {};
      this.ready = new Promise((done) => {
        const script = inside.document.createElement("script");
        script.src = new URL(address, location.href).href;
        script.onload = done;
        inside.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
