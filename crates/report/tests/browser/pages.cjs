// Uses the pages of a folder (written by the example `page`) as people do. `.ci/browser` runs it.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");

const folder = process.argv[2];
const MOST_BYTES = 5 * 1000 * 1000;
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
let checks = 0;
const check = (claim, truth) => {
  assert.ok(truth, claim);
  checks++;
};

const main = async () => {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "pages-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: "/usr/bin/chromium",
    headless: true,
    args: ARGUMENTS,
    viewport: { width: 1440, height: 900 },
    colorScheme: "light",
  });
  const complaints = [];
  const open = async (name) => {
    const page = await context.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(`${name}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`${name}: ${error}`));
    page.on("request", (request) => {
      if (!/^(file|data):/.test(request.url())) complaints.push(`${name}: asks for ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      complaints.push(`${name}: says ${dialog.message()}`);
      dialog.dismiss();
    });
    const start = Date.now();
    await page.goto(pathToFileURL(path.join(folder, `${name}.html`)).href);
    await page.waitForSelector("#tabs button");
    // Two frames later it has been painted.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    page.milliseconds = Date.now() - start;
    return page;
  };
  const picture = (page, name) => page.screenshot({ path: path.join(folder, `${name}.png`) });
  const currentLine = (page) => page.locator(".l[aria-current] .n").innerText();
  const value = (page, name) => page.locator(`#values tr[data-name="${name}"] b`).innerText();

  try {
    await failure(await open("page"), { picture, currentLine, value });
    await keyboardOnly(await open("page"), { currentLine });
    await twoFiles(await open("page-two-files"), { picture });
    await hostile(await open("page-hostile"), { picture });
    for (const name of ["safe", "unknown", "empty"]) {
      const page = await open(`page-${name}`);
      check(`${name} shows a verdict`, (await page.locator("#verdict").innerText()).length > 0);
      await page.keyboard.press("j");
      await picture(page, name);
      await page.close();
    }
    await live(context, { complaints, currentLine });
    await large(await open("page-large"), { picture, currentLine });
    assert.deepEqual(complaints, [], "no page complains, asks anyone, or says anything");
  } finally {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true });
  }
  console.log(`${checks} checks of pages passed`);
};

// Clicks a line, walks through the run, looks at every view, finds, turns dark, prints.
const failure = async (page, { picture, currentLine, value }) => {
  check("the verdict is shown", (await page.locator("#verdict").innerText()) === "can fail");
  check("the sentence names the line", (await page.locator("#sentence").innerText()).includes("line 13"));
  check("line 12 is confirmed", (await page.locator(".l").nth(11).getAttribute("class")).includes("c"));
  check("line 10 is cleared", (await page.locator(".l").nth(9).getAttribute("class")).includes("o"));
  await picture(page, "overview");

  await page.locator(".l").nth(10).locator("code").click();
  check("a run is opened", (await page.locator("#tab-run").getAttribute("aria-selected")) === "true");
  check("the run is at the line", (await currentLine(page)) === "11");
  check("the card tells the condition", (await page.locator("#line").innerText()).includes("min > y"));
  check("the step is told", (await page.locator("#where").innerText()) === "step 6 of 8");
  check("max is 1", (await value(page, "max")) === "1");
  await picture(page, "run");

  await page.keyboard.press("ArrowRight");
  check("the line changes", (await currentLine(page)) === "12");
  await page.keyboard.press("j");
  check("the line changes again", (await currentLine(page)) === "13");
  check("max has changed", (await value(page, "max")) === "0");
  check("the change is marked", (await page.locator('#values tr[data-name="max"]').getAttribute("class")) === "new");
  check(
    "the value stands beside the source",
    (await page.locator(".l[aria-current] .v .new").innerText()).includes("max = 0"),
  );
  await picture(page, "values");
  await page.keyboard.press("k");
  check("back", (await currentLine(page)) === "12");
  await page.keyboard.press("Home");
  check("to the start", (await currentLine(page)) === "6");
  await page.keyboard.press("End");
  check("to the end", (await currentLine(page)) === "13");

  await page.locator("#tab-slice").click();
  check("the slice has six steps", (await page.locator("#panel .steps li button").count()) === 6);
  await page.locator("#tab-focus").click();
  check("the sequence has four statements", (await page.locator("#panel .steps li button").count()) === 4);
  await page.locator("#panel .steps li button").nth(1).click();
  check("a statement is shown on its line", (await currentLine(page)) === "11");
  await picture(page, "focus");
  await page.locator("#tab-neighbourhood").click();
  check("the neighbourhood has two lines", (await page.locator("#panel .steps li button").count()) === 2);
  await picture(page, "neighbourhood");
  await page.locator("#tab-graphs").click();
  check("the automaton is drawn", (await page.locator("#panel svg .node").count()) === 11);
  await page.locator('#panel svg .node[data-at="0:12"]').click();
  check("a point leads to its line", (await page.locator(".l.picked .n").innerText()) === "12");
  await picture(page, "graphs");

  await page.locator("#search").fill("max = y");
  check("two lines are found", (await page.locator("#found").innerText()) === "1/2");
  check("they are marked", (await page.locator(".l.hit").count()) === 2);
  await page.locator("#search").press("Enter");
  check("the next one", (await page.locator("#found").innerText()) === "2/2");
  await page.locator("#search").fill("8");
  check("a number is a line", (await page.locator(".l.hit .n").innerText()) === "8");
  await page.locator("#search").press("Escape");

  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.locator("#theme").click();
  check("it is dark", (await page.evaluate(() => document.documentElement.dataset.theme)) === "dark");
  check("colours change", (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) !== before);
  await page.locator("#tab-run").click();
  await picture(page, "dark");
  await page.setViewportSize({ width: 640, height: 1100 });
  check(
    "a narrow page does not scroll sideways",
    await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
  );
  await picture(page, "narrow");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.locator("#theme").click();
  await page.locator("#help").click();
  check("the keys are told", await page.locator("#keys").isVisible());
  await picture(page, "keys");
  await page.locator("#close").click();

  await page.emulateMedia({ media: "print" });
  check("paper has no tools", !(await page.locator(".tools").isVisible()));
  check("paper has the explanation", (await page.locator("#print").innerText()).includes("depends on 4"));
  await page.pdf({ path: path.join(folder, "print.pdf"), format: "A4" });
  await page.screenshot({ path: path.join(folder, "print.png"), fullPage: true });
  await page.close();
};

// The same without a mouse: Tab reaches the source, arrows move in it, Enter opens a run.
const keyboardOnly = async (page, { currentLine }) => {
  let reached = false;
  for (let presses = 0; presses < 12 && !reached; presses++) {
    await page.keyboard.press("Tab");
    reached = await page.evaluate(() => document.activeElement.classList.contains("n"));
  }
  check("Tab reaches a line", reached);
  for (let presses = 0; presses < 7; presses++) await page.keyboard.press("ArrowDown");
  check("arrows move among lines", (await page.evaluate(() => document.activeElement.innerText)) === "8");
  check("one line is in the order of Tab", (await page.locator('.l .n[tabindex="0"]').count()) === 1);
  await page.keyboard.press("Enter");
  check("Enter opens a run there", (await currentLine(page)) === "8");
  await page.keyboard.press("4");
  check("a digit opens a view", (await page.locator("#tab-focus").getAttribute("aria-selected")) === "true");
  check(
    "every button has a name",
    await page.evaluate(() =>
      [...document.querySelectorAll("button, [role=button]")].every((button) =>
        (button.getAttribute("aria-label") || button.textContent).trim(),
      ),
    ),
  );
  await page.close();
};

const twoFiles = async (page, { picture }) => {
  check("the file of the failure is open", (await page.locator("#file").inputValue()) === "1");
  await page.locator("#tab-run").click();
  await page.keyboard.press("Home");
  check("a step opens its file", (await page.locator("#file").inputValue()) === "0");
  await page.locator("#file").selectOption("1");
  check("a file can be chosen", (await page.locator("#source").textContent()).includes("static int held"));
  await page.locator("#tab-graphs").click();
  await picture(page, "calls");
  check("calls are drawn", (await page.locator("#panel svg .node").count()) === 2);
  await page.close();
};

const hostile = async (page, { picture }) => {
  check("no element comes from the data", (await page.locator("img, b > b, .l b").count()) === 0);
  check("text is text", (await page.locator("#source").textContent()).includes("</script><b>&"));
  await page.locator(".l").nth(2).locator("code").click();
  check("values are text", (await page.locator("#values").innerText()).includes("</script>"));
  await page.locator("#tab-graphs").click();
  await picture(page, "hostile");
  await page.close();
};

// A live page asks its server for a run through a line, once, and says so if there is none.
const live = async (context, { complaints, currentLine }) => {
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(`live: ${error}`));
  const asked = [];
  await page.route("**/*", (route) => {
    const url = new URL(route.request().url());
    if (url.pathname === "/")
      return route.fulfill({ path: path.join(folder, "page-live.html"), contentType: "text/html" });
    asked.push(url.pathname + url.search);
    if (url.search.includes("line=9")) return route.fulfill({ json: { run: null, reason: "out of time" } });
    return route.fulfill({ path: path.join(folder, "page-live.json"), contentType: "application/json" });
  });
  await page.goto("http://localhost:7777/");
  await page.locator(".l").nth(8).click();
  await page.waitForFunction(() => document.getElementById("line").innerText.includes("out of time"));
  await page.locator(".l").nth(11).click();
  await page.waitForSelector(".l[aria-current]");
  check("the run is at the line", (await currentLine(page)) === "12");
  await page.locator(".l").nth(11).click();
  await page.locator(".l").nth(9).click();
  const expected = ["/through?file=0&line=9", "/through?file=0&line=12"];
  check("cleared lines are not asked for, and known ones once", JSON.stringify(asked) === JSON.stringify(expected));
  await page.close();
};

const large = async (page, { picture, currentLine }) => {
  const bytes = fs.statSync(path.join(folder, "page-large.html")).size;
  console.log(`5,000 lines: ${(bytes / 1e6).toFixed(2)} MB, loaded and painted in ${page.milliseconds} ms`);
  check("the page is small", bytes <= MOST_BYTES);
  check("all lines are there", (await page.locator(".l").count()) === 5000);
  await page.locator("#search").fill("4321");
  await page.locator("#search").press("Enter");
  check("a far line is found", await page.locator(".l").nth(4320).isVisible());
  await page.locator("#search").press("Escape");
  await page.locator("#tab-run").click();
  const start = Date.now();
  for (let presses = 0; presses < 50; presses++) await page.keyboard.press("j");
  console.log(`50 steps walked in ${Date.now() - start} ms`);
  check("the walk moves", (await page.locator("#where").innerText()).startsWith("step "));
  check(
    "the current line is on the screen",
    (await page.locator(".l[aria-current]").isVisible()) && (await currentLine(page)) !== "",
  );
  await picture(page, "large");
  await page.locator("#tab-graphs").click();
  await page.locator("#panel select").selectOption("0");
  await picture(page, "large-graph");
  await page.locator("#panel select").selectOption("1");
  check("a large automaton is left out with a note", (await page.locator("#panel").innerText()).includes("too many"));
  await page.close();
};

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
