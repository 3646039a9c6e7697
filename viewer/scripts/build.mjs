// Makes the page: one file with the script, the style and a policy that allows nothing else.
//
//     node scripts/build.mjs OUTPUT.html
//
// The policy names the script and the style by their digests, and no other script, style, picture or connection is allowed. A recording
// is put into the element `recording`, which is data: it is never run.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const digest = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

export async function makePage() {
  const bundled = await build({
    absWorkingDir: ROOT, entryPoints: ["src/main.ts"], bundle: true, minify: true, format: "iife", target: "es2022", charset: "ascii",
    write: false, legalComments: "inline", logLevel: "warning",
  });
  const script = bundled.outputFiles[0].text.trim();
  const style = readFileSync(join(ROOT, "src/style.css"), "utf8").trim();
  const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; base-uri 'none'; form-action 'none'`;
  // Parts of three.js are in the script; its licence asks for its text beside them.
  const license = readFileSync(join(ROOT, "node_modules/three/LICENSE"), "utf8").replaceAll("--", "- -").trim();
  const parts = { policy, style, script, license };
  return readFileSync(join(ROOT, "src/page.html"), "utf8").replace(/\{(policy|style|script|license)\}/g, (_, name) => parts[name]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const output = process.argv[2];
  if (!output) {
    console.error("usage: node scripts/build.mjs OUTPUT.html");
    process.exit(2);
  }
  const page = await makePage();
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(`${output}.part`, page);
  renameSync(`${output}.part`, output);
  console.log(`${output}: ${Math.round(page.length / 1000)} kB`);
}
