// The lessons, the numbers on top and the effect of a slider, in Chromium and in Firefox.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { Browser, Page } from "puppeteer-core";

import { BROWSERS, launch, missing, PENSTOCK } from "./browsers";
import { built, DIST, open, ran, runs, shared, text } from "./playground";

interface Lesson {
  readonly id: string;
  readonly sliders: readonly { readonly key: string }[];
  readonly figures: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "penstock-lessons-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const slider = (key: string) => `#slide-${key.replaceAll(/[^\w]+/g, "-")}`;

/** Presses a key on a slider until the run of its value is on the page. */
async function press(page: Page, key: string, pressed: "Home" | "End" | "ArrowLeft" | "ArrowRight"): Promise<void> {
  await page.focus(slider(key));
  const before = await runs(page);
  await page.keyboard.press(pressed);
  await ran(page, before + 1);
}

/** The numbers that a law has in the editor, by their names. */
const values = (page: Page, names: readonly string[]) =>
  page.evaluate((wanted) => {
    const lines = document.querySelector("#editor")?.shadowRoot?.querySelectorAll(".cm-line") ?? [];
    const written = [...lines].map((each) => each.textContent ?? "").join("\n");
    return wanted.map((name) => Number(new RegExp(`\\b${name} = ([\\d.e-]+)`).exec(written)?.[1]));
  }, names);

/** The rows of numbers on top, each by the names of its numbers. */
const rows = (page: Page) =>
  page.$$eval("#run-facts dl", (all) =>
    all.map((row) =>
      Object.fromEntries(
        [...row.children].map((each) => [
          each.querySelector("dt")?.textContent ?? "",
          each.querySelector("dd")?.textContent ?? "",
        ]),
      ),
    ),
  );

for (const name of BROWSERS) {
  const skip = built ? missing(name) : "not run: no playground; `make web` builds it";
  describe(name, { skip }, () => {
    let light: Browser;
    before(async () => {
      light = await launch(name, "light");
    });
    after(async () => {
      await light?.close();
    });

    test("every slider of every lesson runs at both of its ends, with the analysis that the lesson is about", async () => {
      const lessons = JSON.parse(readFileSync(join(DIST, "lessons.json"), "utf8")) as Lesson[];
      for (const { id, sliders, figures } of lessons) {
        const [page] = await open(light, `#${id}`);
        for (const { key } of sliders) {
          await page.waitForSelector(slider(key));
          for (const end of ["Home", "End"] as const) {
            const at = `${id}, ${key}, ${end}`;
            await page.focus(slider(key));
            const before = await runs(page);
            await page.keyboard.press(end);
            await page.waitForFunction(
              (count) =>
                Number(document.body.dataset["ran"] ?? 0) > count ||
                document.querySelector("#status")?.textContent?.startsWith("Not run."),
              { timeout: 60_000 },
              before,
            );
            assert.match(await text(page, "#status"), /^Ran in/, `${at}: ${await text(page, "#refused")}`);
            if (!figures.includes("Loop gain")) continue;
            await page.waitForFunction(() => document.querySelector("#theory-facts.old") === null);
            assert.equal(await page.$eval("#no-theory", (found) => (found as HTMLElement).hidden), true, at);
          }
        }
        await page.close();
      }
    });

    test("one slider of the lesson on delay moves both gains, and brings the loop back", async () => {
      const [page] = await open(light, "#delay-stability");
      const [rtt, gains] = ["flows.ftp.rtt", "links.bottleneck.aqm.a"];
      await page.waitForSelector(slider(gains));
      assert.equal(
        await text(page, `label[for="${slider(gains).slice(1)}"]`),
        "links.bottleneck.aqm.a and links.bottleneck.aqm.b",
      );
      const verdict = (wanted: string) =>
        page.waitForFunction(
          (word) => document.querySelector("#theory-facts dd")?.textContent === word,
          { timeout: 20_000 },
          wanted,
        );
      await press(page, rtt, "End");
      await verdict("unstable");
      const [a, b] = (await values(page, ["a", "b"])) as [number, number];
      for (let i = 0; i < 3; i++) await press(page, gains, "ArrowLeft");
      const [lower, follows] = (await values(page, ["a", "b"])) as [number, number];
      assert.ok(lower < 0.96 * a, `${lower} after ${a}`);
      assert.ok(Math.abs((lower - follows) / lower / ((a - b) / a) - 1) < 1e-5, `${lower} and ${follows}`);
      await press(page, gains, "Home");
      await verdict("stable");
      await page.close();
    });

    test("the numbers on top and the effect of a slider name their link, and keep it", async () => {
      const [page] = await open(light, "#codel");
      const target = "links.managed.aqm.target";
      await page.waitForSelector(slider(target));
      const delays = async () =>
        Object.fromEntries((await rows(page)).map((row) => [row["Link"], row["Queueing delay"]]));
      const first = await delays();
      for (const link of ["bloated", "managed"]) assert.match(first[link] ?? "none", /^[\d.]+ ms$/, link);
      for (const pressed of ["ArrowRight", "ArrowLeft", "End"] as const) await press(page, target, pressed);
      const second = await delays();
      assert.equal(second["bloated"], first["bloated"], "its target is not the drop-tail link's");
      assert.notEqual(second["managed"], first["managed"]);
      await page.waitForSelector("#trail:not([hidden]) canvas");
      assert.match(await text(page, "#trail .name"), /measured at managed$/);
      await page.close();
    });

    test("a loop that is unstable by itself has no margin above one", async () => {
      const lessons = JSON.parse(readFileSync(join(DIST, "lessons.json"), "utf8")) as {
        id: string;
        scenario: string;
      }[];
      const lesson = lessons.find(({ id }) => id === "delay-stability")?.scenario ?? "";
      assert.match(lesson, /b = 1\.816e-4/);
      // With b above a the gain of the integral is below zero.
      const [page] = await open(light, await shared(lesson.replace("b = 1.816e-4", "b = 1.86e-4")));
      await page.waitForFunction(() => document.querySelector("#theory-facts dd")?.textContent === "unstable");
      assert.doesNotMatch(await text(page, "#theory-facts"), /Gain margin\u00d7 (?!0)/);
      await page.close();
    });

    test("a record runs in its own world", async () => {
      const scenario = "../scenarios/two-bottlenecks.toml";
      execFileSync(PENSTOCK, ["run", scenario, "--world", "fluid", "--quiet", "--out", join(folder, name)], {
        stdio: "pipe",
      });
      const [page] = await open(light, "#windows");
      const before = await runs(page);
      const input = await page.$("#file");
      const record = join(folder, name, "two-bottlenecks-seed1", "record.toml");
      await (input as never as { uploadFile(path: string): Promise<void> }).uploadFile(record);
      await ran(page, before + 1);
      assert.equal(await page.$eval("#world", (found) => (found as HTMLSelectElement).value), "fluid");
      await page.close();
    });
  });
}
