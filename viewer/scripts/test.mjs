// Runs the page's tests:  node scripts/test.mjs [--junit FILE] [unit | browser | NAME...]
//
// unit: of the modules, in Node.js. browser: of the built page in headless Chromium ($CHROMIUM, else `chromium` on PATH).

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUT = join(ROOT, "node_modules/.tests"); // where `playwright-core` is found from

const names = process.argv.slice(2);
const junit = names[0] === "--junit" ? names.splice(0, 2)[1] : undefined;
const sources = ["unit", "browser"].flatMap((folder) =>
  readdirSync(join(ROOT, "tests", folder)).filter((name) => name.endsWith(".test.ts")).map((name) => join("tests", folder, name)));
const chosen = sources.filter((source) => names.length === 0 || names.some((name) => source.includes(name)));
if (chosen.length === 0) {
  console.error(`no test is named ${names.join(" or ")}; there are:\n  ${sources.join("\n  ")}`);
  process.exit(2);
}
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
await build({
  absWorkingDir: ROOT, entryPoints: chosen, bundle: true, format: "esm", platform: "node", target: "node18", outdir: OUT, outbase: "tests",
  outExtension: { ".js": ".mjs" }, external: ["playwright-core"],
  logLevel: "warning",
});
const files = chosen.map((source) => join(OUT, basename(dirname(source)), basename(source).replace(/ts$/, "mjs")));
const reporters = junit ? ["--test-reporter=junit", `--test-reporter-destination=${junit}`] : [];
const run = spawnSync(process.execPath, ["--test", "--test-concurrency=1", "--test-reporter=spec", "--test-reporter-destination=stdout", ...reporters, ...files],
                      { stdio: "inherit", cwd: ROOT, env: { ...process.env, EIPC_VIEWER: ROOT } });
process.exit(run.status ?? 1);
