import { App } from "./app.js";
import { Recording } from "./data/recording.js";
import { fromBase64, gunzip, parse } from "./data/unpack.js";
import { element } from "./ui/dom.js";
import { RecordingError } from "./data/format.js";
import { NoGraphicsError } from "./scene/stage.js";

declare global {
  // For measurements and tests of the page.
  var eipcViewer: App | undefined;
}

async function start(root: HTMLElement): Promise<void> {
  const text = document.getElementById("recording")?.textContent.trim() ?? "";
  if (text === "") throw new RecordingError("This page carries no recording. Make one with eipc.viz.write_episode_page.");
  const { header, arrays } = parse(await gunzip(fromBase64(text)));
  const recording = Recording.read(header, arrays);
  document.title = recording.title;
  globalThis.eipcViewer = new App(recording, root);
}

function showError(root: HTMLElement, error: unknown): void {
  const known = error instanceof RecordingError || error instanceof NoGraphicsError;
  const words = known ? error.message : `The page failed: ${String(error)}. Please report this.`;
  root.replaceChildren(element("p", { class: "error", role: "alert" }, words));
}

const root = document.getElementById("root")!;
start(root).catch((error: unknown) => { showError(root, error); });
