// What can be walked: steps of a run or of its slice, statements of a sequence, lines of a neighbourhood. And the values there.
const values = (run, step) => {
  const steps = data.runs[run].steps;
  const cache = data.runs[run].cache || (data.runs[run].cache = []);
  // Every hundredth step keeps its values.
  let from = Math.floor(step / 100);
  while (from > 0 && !cache[from]) from--;
  let now = from > 0 ? new Map(cache[from]) : new Map();
  let before = now;
  for (let at = from > 0 ? from * 100 + 1 : 0; at <= step; at++) {
    before = at === step ? new Map(now) : now;
    for (const gone of steps[at].gone || []) now.delete(gone);
    for (const [variable, value] of Object.entries(steps[at].set || {})) now.set(variable, value);
    if (at % 100 === 0 && at > 0) cache[at / 100] = new Map(now);
  }
  if (from > 0 && step === from * 100) before = step > 0 ? values(run, step - 1).now : new Map();
  return { now, before };
};
const walk = () => {
  const run = data.runs[state.run];
  // The first procedure is not indented, however many calls are open outside of it.
  if (run && run.base === undefined)
    run.base = run.steps.reduce((least, step) => Math.min(least, step.depth), Infinity);
  const of = (index) => ({
    ...run.steps[index],
    depth: run.steps[index].depth - run.base,
    run: state.run,
    step: index,
  });
  if (state.tab === "run" && run) return run.steps.map((_, index) => of(index));
  if (state.tab === "slice" && run) return run.slice.map(of);
  if (state.tab === "focus" && data.focus[state.focus]) {
    const focus = data.focus[state.focus];
    return focus.statements.map((statement) => ({ ...statement, run: focus.run, depth: 0 }));
  }
  if (state.tab === "neighbourhood" && data.neighbourhoods[state.hood]) {
    return data.neighbourhoods[state.hood].lines.map(([file, line]) => ({
      at: [file, line, 1, line, 1],
      whole: true,
      text: ((sources[file] && sources[file].lines[line - 1]) || "").trim(),
    }));
  }
  return [];
};
let current = null;
const clear = () => {
  if (!current) return;
  current.row.removeAttribute("aria-current");
  current.row
    .querySelector("code")
    .replaceChildren(
      ...spans(sources[current.file].lines[current.line - 1], sources[current.file].classes[current.line - 1]),
    );
  const beside = current.row.querySelector(".v");
  if (beside) beside.remove();
  current = null;
};
const mark = (stop) => {
  clear();
  $("values").hidden = true;
  if (!stop) return;
  if (stop.at && sources[stop.at[0]]) {
    if (stop.at[0] !== state.file) open(stop.at[0]);
    const line = stop.at[1],
      target = row(line);
    if (target) {
      const text = sources[state.file].lines[line - 1],
        classes = [...sources[state.file].classes[line - 1]];
      if (!stop.whole) marksOf(classes, text, line, [stop.at], "x");
      target.querySelector("code").replaceChildren(...spans(text, classes));
      target.setAttribute("aria-current", "step");
      current = { row: target, file: state.file, line };
      reach(target);
      reveal(line);
    }
  }
  if (stop.run === null || stop.run === undefined || stop.step === null || stop.step === undefined) return;
  if (!data.runs[stop.run] || !data.runs[stop.run].steps[stop.step]) return;
  const { now, before } = values(stop.run, stop.step);
  showValues(now, before, stop);
};
const showValues = (now, before, stop) => {
  const changed = (variable) => stop.step > 0 && before.get(variable) !== now.get(variable);
  if (current) {
    const words = new Set(stop.text.match(/[\w\u0080-\uffff]+/g) || []);
    const chosen = [...now].filter(([variable]) => changed(variable) || words.has(variable)).slice(0, 8);
    if (chosen.length)
      current.row.append(
        make(
          "span",
          { class: "v" },
          chosen.map(([variable, value]) =>
            make("span", { class: changed(variable) ? "new" : null }, `${variable} = ${value}`),
          ),
        ),
      );
  }
  if (!now.size) return;
  const rows = [...now].sort((a, b) => Number(changed(b[0])) - Number(changed(a[0])) || (a[0] < b[0] ? -1 : 1));
  $("values").replaceChildren(
    make("h2", {}, "Values before this step"),
    make(
      "table",
      {},
      make(
        "tbody",
        {},
        rows.map(([variable, value]) =>
          make(
            "tr",
            { class: changed(variable) ? "new" : null, "data-name": variable },
            make("td", {}, variable),
            make(
              "td",
              {},
              make("b", {}, value),
              changed(variable) &&
                make("span", { class: "was" }, before.has(variable) ? `was ${before.get(variable)}` : "new"),
            ),
          ),
        ),
      ),
    ),
  );
  $("values").hidden = false;
};
const go = (position) => {
  const stops = walk();
  if (!stops.length) return;
  state.position = Math.max(0, Math.min(stops.length - 1, position));
  mark(stops[state.position]);
  if (!move(stops.length)) showPanel();
};
// The list that is shown; moving in it changes two of its rows only.
let shown = null;
const about = () => [state.tab, state.run, state.focus, state.hood, state.file].join(" ");
const move = (length) => {
  if (!shown || shown.about !== about() || !shown.buttons.has(state.position)) return false;
  if (
    shown.long &&
    !(
      shown.buttons.has(Math.max(0, state.position - 20)) &&
      shown.buttons.has(Math.min(length - 1, state.position + 20))
    )
  )
    return false;
  const before = $("panel").querySelector(".steps [aria-current]");
  if (before) before.removeAttribute("aria-current");
  shown.buttons.get(state.position).setAttribute("aria-current", "step");
  const bar = controls(length),
    old = $("panel").querySelector(".walk");
  [...old.querySelectorAll("button")].forEach((button, index) => {
    button.disabled = bar.querySelectorAll("button")[index].disabled;
  });
  $("where").textContent = bar.querySelector("#where").textContent;
  center();
  return true;
};
const center = () => {
  const panel = $("panel"),
    item = panel.querySelector(".steps [aria-current]");
  if (!item) return;
  const box = panel.getBoundingClientRect(),
    at = item.getBoundingClientRect();
  if (at.top < box.top + 56 || at.bottom > box.bottom - 12) panel.scrollTop += at.top - box.top - box.height / 2;
};
