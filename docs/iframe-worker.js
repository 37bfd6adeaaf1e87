// Browsers start no worker on pages opened from disk. There, a hidden frame runs the script of the site's search instead.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
      this.loaded = new Promise(done => {
        const script = this.scope.document.createElement("script");
        script.src = url;
        script.onload = done;
        this.scope.document.head.append(script);
      });
    }
    postMessage(data) {
      this.loaded.then(() => this.scope.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
