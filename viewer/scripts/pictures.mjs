// Pictures of docs/howto/viewer.md:  node scripts/pictures.mjs GRASP.html FOLDER

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page, folder] = process.argv.slice(2);
if (!page || !folder || !existsSync(page)) {
  console.error(`usage: node scripts/pictures.mjs GRASP.html FOLDER${page ? `\n${page} does not exist: ./dev demo writes it` : ""}`);
  process.exit(2);
}
const FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
               "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const PICTURES = [
  { name: "viewer_light.png", viewport: { width: 960, height: 620 }, colorScheme: "light", fragment: "#t=3.6" },
  { name: "viewer_phone.png", viewport: { width: 390, height: 700 }, colorScheme: "dark", fragment: "#t=2.4" },
];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
try {
  for (const { name, fragment, ...options } of PICTURES) {
    const tab = await (await browser.newContext(options)).newPage();
    await tab.goto(pathToFileURL(resolve(page)).href + fragment);
    await tab.waitForFunction(() => globalThis.eipcViewer?.picture.stage.drawn > 0);
    await tab.screenshot({ path: join(folder, name) });
    console.log(join(folder, name));
  }
} finally {
  await browser.close();
}
