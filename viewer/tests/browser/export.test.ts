import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makePage, named, open, sample, PageTests, VIEWER } from "./browser.js";

const pages = new PageTests((path) => { makePage(path("made.html")); });
const { check } = pages;
const path = pages.path("made.html");

check("the motion is saved as glTF", async () => {
  const { page } = await open(pages.browser, path, "#t=0.8");
  const [download] = await Promise.all([page.waitForEvent("download"), named(page, "gltf").click()]);
  assert.equal(download.suggestedFilename(), "squeeze_the_ball_lift_it.glb");
  const saved = pages.path("saved.glb");
  await download.saveAs(saved);
  for (const [time, center, half] of [[0, 0.05, 0.04], [0.5, 0.05, 0.032], [1, 0.11, 0.032]] as const) {
    const surfaces = JSON.parse(execFileSync("/usr/bin/python3", [join(VIEWER, "tests/surfaces_of_glb.py"), saved, String(time)], { encoding: "utf8", maxBuffer: 1e8 })) as Record<string, number[][]>;
    assert.deepEqual(Object.keys(surfaces).sort(), ["ball", "ground", "left pad", "right pad"]);
    const ball = surfaces["ball"]!; // y up: the world's z is y, its y is -z
    const of = (k: number): [number, number] => [Math.min(...ball.map((point) => point[k]!)), Math.max(...ball.map((point) => point[k]!))];
    assert.ok(Math.abs((of(1)[0] + of(1)[1]) / 2 - center) < 5e-4, `height of the ball at ${time}: ${of(1).join()}`);
    assert.ok(Math.abs(of(2)[1] - half) < 1e-3 && Math.abs(of(2)[0] + half) < 1e-3, `width of the ball at ${time}: ${of(2).join()}`);
  }
});

check("the recording is saved as a video that plays", async () => {
  const { page } = await open(pages.browser, path, "#t=0.3", { viewport: { width: 620, height: 420 } });
  await page.getByLabel("Speed of playing").selectOption("4");
  const [download] = await Promise.all([page.waitForEvent("download"), named(page, "video").click()]);
  const saved = pages.path("saved.webm");
  await download.saveAs(saved);
  assert.equal(await sample(page), 15, "the page is where it was");
  const other = await (await pages.browser.newContext()).newPage();
  const film = await other.evaluate(async (base64) => {
    const video = document.createElement("video");
    video.muted = true;
    video.src = `data:video/webm;base64,${base64}`;
    await new Promise((resolve, reject) => { video.onloadeddata = resolve; video.onerror = () => { reject(new Error(video.error?.message)); }; });
    const rows = async (time: number): Promise<number> => {
      video.currentTime = time;
      await new Promise((resolve) => { video.onseeked = resolve; });
      const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
      const context = canvas.getContext("2d")!;
      context.drawImage(video, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      let [sum, count] = [0, 0];
      for (let i = 0; i < data.length; i += 4) {
        if (data[i]! <= 1.15 * data[i + 1]! || data[i + 1]! <= 1.15 * data[i + 2]!) continue;
        sum += Math.floor(i / 4 / canvas.width);
        count++;
      }
      return sum / count / canvas.height;
    };
    return { duration: video.duration, first: await rows(0.01), last: await rows(0.24) };
  }, readFileSync(saved).toString("base64"));
  assert.ok(Math.abs(film.duration - 0.25) < 0.08, `1 s at four times the speed lasts ${film.duration} s`);
  assert.ok(film.first - film.last > 0.05, `the ball rises in the film: ${film.first} to ${film.last}`);
});

check("a browser without WebCodecs gets a message", async () => {
  const { page } = await open(pages.browser, path);
  await page.evaluate(() => { Reflect.deleteProperty(globalThis, "VideoEncoder"); });
  await named(page, "video").click();
  await page.waitForFunction(() => /has no WebCodecs.*record the screen/.test(document.querySelector(".status")!.textContent));
  assert.equal(await named(page, "video").textContent(), "Video");
});
