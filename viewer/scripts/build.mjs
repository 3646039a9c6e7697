// Makes the pages:
//
//     node scripts/build.mjs OUTPUT.html FOLDER
//
// OUTPUT.html shows a recording: one file with the script, the style and a policy that allows nothing else. The policy names the script
// and the style by their digests, and no other script, style, picture or connection is allowed. A recording is put into the element
// `recording`, which is data: it is never run.
//
// FOLDER gets index.html, viewer.js and viewer.css, which eipc-server --viewer serves.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PROTOS = join(ROOT, "../proto/eipc/v1");
const digest = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

// Types of the protocol, from the protos, into src/proto (which is no part of the sources), when they are older.
export function makeProtocol() {
  const out = join(ROOT, "src/proto");
  const sources = readdirSync(PROTOS).filter((name) => name.endsWith(".proto"));
  const made = (name) => join(out, "eipc/v1", name.replace(".proto", "_pb.ts"));
  const fresh = sources.every((name) => existsSync(made(name)) && statSync(made(name)).mtimeMs >= statSync(join(PROTOS, name)).mtimeMs);
  if (fresh) return;
  mkdirSync(out, { recursive: true });
  execFileSync("protoc", ["-I", join(ROOT, "../proto"), `--plugin=protoc-gen-es=${join(ROOT, "node_modules/.bin/protoc-gen-es")}`, `--es_out=${out}`,
                          "--es_opt=target=ts,import_extension=js", ...sources.map((name) => join(PROTOS, name))], { stdio: "inherit" });
}

async function bundle(entry) {
  const bundled = await build({
    absWorkingDir: ROOT, entryPoints: [entry], bundle: true, minify: true, format: "iife", target: "es2022", charset: "ascii",
    write: false, legalComments: "inline", logLevel: "warning",
  });
  return bundled.outputFiles[0].text.trim();
}

// Parts of these packages are in the scripts; their licences ask for their texts beside them.
const licenses = (...paths) => paths.map((path) => readFileSync(join(ROOT, "node_modules", path), "utf8").replaceAll("--", "- -").trim()).join("\n\n");
const style = () => readFileSync(join(ROOT, "src/style.css"), "utf8").trim();
const filled = (template, parts) => readFileSync(join(ROOT, template), "utf8").replace(/\{(policy|style|script|license)\}/g, (_, name) => parts[name]);

export async function makePage() {
  const script = await bundle("src/main.ts");
  const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style())}; base-uri 'none'; form-action 'none'`;
  return filled("src/page.html", { policy, style: style(), script, license: licenses("three/LICENSE", "webm-muxer/LICENSE") });
}

async function makeLive() {
  makeProtocol();
  const license = `${licenses("three/LICENSE", "webm-muxer/LICENSE")}\n\nprotobuf-es: Copyright 2021-2025 Buf Technologies, Inc., under the Apache License 2.0; parts of it by Google, under the\n3-clause BSD licence, whose text is in the script.`;
  return { "index.html": filled("src/live/page.html", { license }), "viewer.js": await bundle("src/live/main.ts"), "viewer.css": style() };
}

function replace(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
  console.log(`${path}: ${Math.round(text.length / 1000)} kB`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [output, folder] = process.argv.slice(2);
  if (!output || !folder) {
    console.error("usage: node scripts/build.mjs OUTPUT.html FOLDER");
    process.exit(2);
  }
  replace(output, await makePage());
  for (const [name, text] of Object.entries(await makeLive())) replace(join(folder, name), text);
}
