import { App } from "./app.js";
import { Recording } from "./data/recording.js";
import { fromBase64, gunzip, parse } from "./data/unpack.js";
import { element } from "./ui/dom.js";
import { compared } from "./compare/compared.js";
import { RecordingError, type Header } from "./data/format.js";
import { NoGraphicsError } from "./scene/painter.js";

declare global {
  // For measurements and tests of the page.
  var eipcViewer: App | undefined;
}

// The recording in an element of the page; null: there is none.
async function read(id: string): Promise<{ header: Header; recording: Recording } | null> {
  const text = document.getElementById(id)?.textContent.trim() ?? "";
  if (text === "") return null;
  const { header, arrays } = parse(await gunzip(fromBase64(text)));
  return { header, recording: Recording.read(header, arrays) };
}

async function start(root: HTMLElement): Promise<void> {
  const first = await read("recording");
  if (!first) throw new RecordingError("This page carries no recording. Make one with eipc.viz.write_episode_page.");
  const second = await read("compared");
  document.title = first.recording.title;
  const pair = second ? compared(first.recording, second.recording, second.header) : null;
  globalThis.eipcViewer = new App(pair?.main ?? first.recording, root, pair ? { compared: pair } : {});
}

function showError(root: HTMLElement, error: unknown): void {
  const known = error instanceof RecordingError || error instanceof NoGraphicsError;
  const words = known ? error.message : `The page failed: ${String(error)}. Please report this.`;
  root.replaceChildren(element("p", { class: "error", role: "alert" }, words));
}

const root = document.getElementById("root")!;
start(root).catch((error: unknown) => { showError(root, error); });
