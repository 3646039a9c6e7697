// `eipc view` of the built program, for the scripts that draw and measure pages of running sessions.

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const GRASP = join(ROOT, "models/scenes/bubble_teddy_low_sound.textproto");

// Shows the grasp; `url` of its page, `end` ends it. EIPC_CLI names another program.
export async function viewGrasp(...options) {
  const child = spawn(process.env.EIPC_CLI ?? join(ROOT, "build/release/bin/eipc"), ["view", GRASP, ...options], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /eipc view: (\S+)/.exec(line);
    if (found) return { url: found[1], end: () => child.kill("SIGINT") };
  }
  throw new Error("eipc view ended");
}
