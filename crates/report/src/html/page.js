// The page is a view of `data`: `state` says what is looked at, `show` brings everything in line with it.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const state = { file: 0, line: null, tab: "overview", run: 0, position: -1, focus: 0, hood: 0, graph: null, hits: [], hit: -1 };

  // --- Elements, made of text only: nothing of the data is ever read as HTML.
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  };
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const key = (file, line) => `${file}:${line}`;
  const name = (file) => (data.sources[file] ? data.sources[file].name : "");
  const place = (file, line) => (data.sources.length > 1 ? `${name(file)}:${line}` : `line ${line}`);
  const short = (file, line) => (data.sources.length > 1 && file !== state.file ? `${name(file)}:${line}` : `${line}`);

  // --- The source.
  const sources = data.sources.map((source) => {
    const lines = source.text.split(/\r\n|\n/);
    if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
    return { lines, rows: null };
  });
  const WORDS = new Set(("auto bool break case char const continue default do double else enum extern false float for goto if inline int long register "
    + "return short signed sizeof static struct switch true typedef union unsigned void volatile while decl begin end fi od then skip "
    + "define module local").split(" "));
  const TOKEN = /\/\*[\s\S]*?(?:\*\/|$)|\/\/.*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|\d[\w.]*|^\s*#\s*\w+/g;

  // The class of each letter of a line; `inside` says whether it begins inside a comment.
  const colours = (text, inside) => {
    const classes = new Array(text.length).fill("");
    let from = 0;
    if (inside) {
      const end = text.indexOf("*/");
      from = end < 0 ? text.length : end + 2;
      classes.fill("m", 0, from);
      if (end < 0) return [classes, true];
    }
    TOKEN.lastIndex = from;
    let open = false;
    for (let match; (match = TOKEN.exec(text)); ) {
      const token = match[0];
      if (token === "") { TOKEN.lastIndex++; continue; }
      let kind = "";
      if (token.startsWith("/*")) { kind = "m"; open = !token.endsWith("*/") || token.length < 4; }
      else if (token.startsWith("//")) kind = "m";
      else if (token[0] === '"' || token[0] === "'") kind = "s";
      else if (/^\s*#/.test(token)) kind = "k";
      else if (/^\d/.test(token)) kind = "d";
      else if (WORDS.has(token)) kind = "k";
      if (kind) classes.fill(kind, match.index, match.index + token.length);
    }
    return [classes, open];
  };
  // Columns count characters, texts count UTF-16 units.
  const unit = (text, column) => {
    let at = 0;
    for (let left = column - 1; left > 0 && at < text.length; left--) at += text.codePointAt(at) > 0xffff ? 2 : 1;
    return at;
  };
  const marksOf = (classes, text, line, extents, kind) => {
    for (const at of extents) {
      const from = at[1] === line ? unit(text, at[2]) : 0;
      const to = at[3] === line ? unit(text, at[4]) : text.length;
      for (let i = from; i < Math.max(to, from + 1) && i < classes.length; i++) classes[i] += ` ${kind}`;
    }
  };
  const spans = (text, classes) => {
    const out = [];
    for (let from = 0; from < text.length; ) {
      let to = from + 1;
      while (to < text.length && classes[to] === classes[from]) to++;
      const part = text.slice(from, to);
      out.push(classes[from].trim() ? make("span", { class: classes[from].trim() }, part) : part);
      from = to;
    }
    return out;
  };
  const MARKS = { c: "on a failing run", i: "perhaps on a failing run", o: "cleared", ".": "no statement" };
  const build = (file) => {
    const source = sources[file];
    const marks = data.marks[file] || "";
    const focused = new Map();
    for (const focus of data.focus.slice(0, 1)) for (const { at } of focus.statements) if (at[0] === file) {
      focused.set(at[1], [...(focused.get(at[1]) || []), at]);
    }
    source.rows = [];
    source.classes = [];
    source.chunks = [];
    let inside = false;
    for (let first = 0; first < source.lines.length; first += 50) {
      const chunk = make("div", { class: "chunk" });
      const last = Math.min(first + 50, source.lines.length);
      chunk.style.setProperty("--count", last - first);
      for (let index = first; index < last; index++) {
        const text = source.lines[index], mark = marks[index] || ".";
        let classes;
        [classes, inside] = colours(text, inside);
        if (focused.has(index + 1)) marksOf(classes, text, index + 1, focused.get(index + 1), "f");
        const row = make("div", { class: mark === "." ? "l" : `l ${mark}` },
          make("button", { class: "n", type: "button", tabindex: "-1", "aria-label": `line ${index + 1}, ${MARKS[mark]}` }, `${index + 1}`),
          make("span", { class: "h" }), make("code", {}, spans(text, classes)));
        const score = data.suspicion[key(file, index + 1)];
        if (score !== undefined) row.style.setProperty("--s", score.toFixed(3));
        row.number = index + 1;
        source.rows.push(row);
        source.classes.push(classes);
        chunk.append(row);
      }
      source.chunks.push(chunk);
    }
  };
  let tabbable = null;
  const reach = (row) => {
    if (tabbable) tabbable.tabIndex = -1;
    tabbable = row && row.querySelector(".n");
    if (tabbable) tabbable.tabIndex = 0;
  };
  const open = (file) => {
    if (!sources[file]) return;
    if (!sources[file].rows) build(file);
    state.file = file;
    $("source").replaceChildren(...sources[file].chunks);
    $("filename").textContent = name(file);
    $("file").value = `${file}`;
    reach(sources[file].rows[0]);
    drawMap();
  };
  const row = (line) => sources[state.file] && sources[state.file].rows && sources[state.file].rows[line - 1];
  const reveal = (line) => {
    const target = row(line), box = $("scroll");
    if (!target) return;
    // Rows all have one height, so the place is known even where nothing is laid out yet.
    const height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
    const top = 10 + (line - 1) * height;
    if (top < box.scrollTop + height * 2 || top > box.scrollTop + box.clientHeight - height * 4) box.scrollTop = Math.max(0, top - box.clientHeight * 0.36);
  };

  // --- What can be walked: steps of a run or of its slice, statements of a sequence, lines of a neighbourhood.
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
    if (run && run.base === undefined) run.base = run.steps.reduce((least, step) => Math.min(least, step.depth), Infinity);
    const of = (index) => ({ ...run.steps[index], depth: run.steps[index].depth - run.base, run: state.run, step: index });
    if (state.tab === "run" && run) return run.steps.map((_, index) => of(index));
    if (state.tab === "slice" && run) return run.slice.map(of);
    if (state.tab === "focus" && data.focus[state.focus]) {
      const focus = data.focus[state.focus];
      return focus.statements.map((statement) => ({ ...statement, run: focus.run, depth: 0 }));
    }
    if (state.tab === "neighbourhood" && data.neighbourhoods[state.hood]) {
      return data.neighbourhoods[state.hood].lines.map(([file, line]) => ({ at: [file, line, 1, line, 1], whole: true, text: (sources[file] && sources[file].lines[line - 1] || "").trim() }));
    }
    return [];
  };
  let current = null;
  const clear = () => {
    if (!current) return;
    current.row.removeAttribute("aria-current");
    current.row.querySelector("code").replaceChildren(...spans(sources[current.file].lines[current.line - 1], sources[current.file].classes[current.line - 1]));
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
      const line = stop.at[1], target = row(line);
      if (target) {
        const text = sources[state.file].lines[line - 1], classes = [...sources[state.file].classes[line - 1]];
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
      const words = new Set((stop.text.match(/[\w\u0080-\uffff]+/g) || []));
      const chosen = [...now].filter(([variable]) => changed(variable) || words.has(variable)).slice(0, 8);
      if (chosen.length) current.row.append(make("span", { class: "v" }, chosen.map(([variable, value]) =>
        make("span", { class: changed(variable) ? "new" : null }, `${variable} = ${value}`))));
    }
    if (!now.size) return;
    const rows = [...now].sort((a, b) => Number(changed(b[0])) - Number(changed(a[0])) || (a[0] < b[0] ? -1 : 1));
    $("values").replaceChildren(make("h2", {}, "Values before this step"), make("table", {}, make("tbody", {}, rows.map(([variable, value]) =>
      make("tr", { class: changed(variable) ? "new" : null, "data-name": variable }, make("td", {}, variable), make("td", {}, make("b", {}, value),
        changed(variable) && make("span", { class: "was" }, before.has(variable) ? `was ${before.get(variable)}` : "new")))))));
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
    if (shown.long && !(shown.buttons.has(Math.max(0, state.position - 20)) && shown.buttons.has(Math.min(length - 1, state.position + 20)))) return false;
    const before = $("panel").querySelector(".steps [aria-current]");
    if (before) before.removeAttribute("aria-current");
    shown.buttons.get(state.position).setAttribute("aria-current", "step");
    const bar = controls(length), old = $("panel").querySelector(".walk");
    [...old.querySelectorAll("button")].forEach((button, index) => { button.disabled = bar.querySelectorAll("button")[index].disabled; });
    $("where").textContent = bar.querySelector("#where").textContent;
    center();
    return true;
  };
  const center = () => {
    const panel = $("panel"), item = panel.querySelector(".steps [aria-current]");
    if (!item) return;
    const box = panel.getBoundingClientRect(), at = item.getBoundingClientRect();
    if (at.top < box.top + 56 || at.bottom > box.bottom - 12) panel.scrollTop += at.top - box.top - box.height / 2;
  };

  // --- The panel.
  const truth = (holds) => (holds === true ? make("span", { class: "yes" }, "true") : holds === false ? make("span", { class: "no" }, "false") : null);
  const controls = (length, more) => {
    const button = (label, text, to, off) => make("button", { type: "button", "aria-label": label, title: label, disabled: off, onclick: () => go(to()) }, text);
    const at = state.position;
    return make("div", { class: "walk" }, button("first step", "⇤", () => 0, at <= 0), button("step before", "←", () => state.position - 1, at <= 0),
      button("next step", "→", () => state.position + 1, at >= length - 1), button("last step", "⇥", () => length - 1, at >= length - 1),
      make("span", { id: "where", "aria-live": "polite" }, at < 0 ? count(length, "step") : `step ${at + 1} of ${length}`), more);
  };
  const stepList = (stops, dim, className) => {
    // Long runs show a window around the current step.
    const around = Math.max(0, state.position);
    const [from, to] = stops.length > 1200 ? [Math.max(0, around - 250), Math.min(stops.length, around + 250)] : [0, stops.length];
    const items = [], buttons = new Map();
    let procedure = null;
    if (from > 0) items.push(make("li", { class: "gap" }, `… ${from} steps before`));
    for (let index = from; index < to; index++) {
      const stop = stops[index];
      if (stop.procedure !== undefined && stop.procedure !== procedure && procedure !== null) items.push(make("li", { class: "proc", style: { "--depth": stop.depth || 0 } }, stop.procedure));
      procedure = stop.procedure;
      buttons.set(index, make("button", { type: "button", class: dim && dim(stop) ? "dim" : null, "aria-current": index === state.position ? "step" : null, onclick: () => go(index) },
        make("b", {}, stop.at ? short(stop.at[0], stop.at[1]) : ""), make("span", { class: "t", style: { "--depth": stop.depth || 0 }, title: stop.text }, stop.text), truth(stop.holds) || make("span")));
      items.push(make("li", {}, buttons.get(index)));
    }
    if (to < stops.length) items.push(make("li", { class: "gap" }, `… ${stops.length - to} more steps`));
    shown = { about: about(), buttons, long: stops.length > 1200 };
    return make("ol", { class: `steps ${className || ""}` }, items);
  };
  const runPicker = () => data.runs.length > 1 && make("select", { "aria-label": "Run", onchange: (event) => { state.run = Number(event.target.value); state.position = -1; clear(); go(0); } },
    data.runs.map((_, index) => make("option", { value: index, selected: index === state.run }, `run ${index + 1}`)));
  const ranges = (file) => {
    const out = [];
    [...(data.marks[file] || "")].forEach((mark, index) => {
      if (mark !== "c" && mark !== "i") return;
      const last = out[out.length - 1];
      if (last && last[1] === index) last[1] = index + 1; else out.push([index + 1, index + 1]);
    });
    const texts = out.slice(0, 30).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
    return texts.join(", ") + (out.length > 30 ? ` and ${out.length - 30} more` : "");
  };
  const assumptions = (focus) => focus.assumptions.map((assumption, index) => [index > 0 && make("span", { class: "and" }, "and"),
    make("span", { class: "chip", title: `demanded at ${place(...assumption.at)}` }, assumption.text + (assumption.overflow ? " (unless arithmetic overflows)" : ""))]);

  const views = {
    overview: () => {
      const parts = [];
      const { inside, outside, confirmed, exact } = data.lines;
      if (data.reason) parts.push(make("h2", {}, "Note"), make("p", { class: "lead" }, data.reason));
      if (inside + outside > 0) {
        const all = inside + outside, found = Math.min(confirmed, inside);
        parts.push(make("h2", {}, "Where"));
        parts.push(make("p", { class: "lead" }, data.verdict === "safe" ? "No line lies on a failing run." : `${inside} of ${count(all, "line")} with statements ${exact ? "lie" : "may lie"} on failing runs${exact ? ", each confirmed by a run." : confirmed ? `; ${confirmed} are confirmed by a run.` : "."}`));
        parts.push(make("div", { class: "share", "aria-hidden": "true" }, [["c", found], ["i", inside - found], ["o", outside]].filter(([, part]) => part > 0).map(([mark, part]) => make("i", { class: mark, style: { width: `${(100 * part) / all}%` } }))));
        parts.push(make("p", { class: "faint" }, `${Math.round((100 * outside) / all)} % cleared`));
        if (inside) data.sources.forEach((source, file) => { const text = ranges(file); if (text) parts.push(make("p", { class: "faint" }, data.sources.length > 1 ? `${source.name}: ${text}` : `Lines ${text}`)); });
      }
      const focus = data.focus[0];
      if (focus) {
        const run = data.runs[focus.run];
        parts.push(make("h2", {}, "Why"), make("p", { class: "lead" }, `The failure depends on ${focus.statements.length}${run ? ` of the ${count(run.steps.length, "step")} of a run` : " statements"}.`));
        const shown = focus.statements.slice(0, 14);
        parts.push(make("ol", { class: "steps wide", style: { "margin-top": "8px" } }, shown.map((statement, index) => make("li", {}, make("button", { type: "button", onclick: () => { tab("focus"); state.focus = 0; go(index); } },
          make("b", {}, short(statement.at[0], statement.at[1])), make("span", { class: "t" }, statement.text.replace(/: (true|false)$/, "")), truth(statement.holds) || make("span"))))));
        if (focus.statements.length > shown.length) parts.push(make("p", { class: "faint" }, `and ${focus.statements.length - shown.length} more`));
        parts.push(make("h2", {}, "When"), focus.assumptions.length ? make("p", {}, assumptions(focus)) : make("p", {}, "Always, whatever the inputs are."));
      }
      const hood = data.neighbourhoods[0];
      if (hood && hood.lines.length) parts.push(make("h2", {}, "Likely fault"), faults(hood, true));
      if (data.invariants.length) {
        parts.push(make("h2", {}, "Invariants"));
        parts.push(make("ol", { class: "steps wide" }, data.invariants.slice(0, 200).map((one) => make("li", {}, make("button", { type: "button", onclick: () => pick(one.at[0], one.at[1]) },
          make("b", {}, short(one.at[0], one.at[1])), make("span", { class: "t" }, one.formula), one.loop ? make("span", { class: "faint" }, "loop") : make("span"))))));
      }
      const run = data.runs[0];
      if (data.reproduce.command || (run && run.inputs.length)) parts.push(make("h2", {}, "Reproduce"));
      if (run && run.inputs.length) parts.push(make("p", {}, run.inputs.slice(0, 40).map((input) => make("span", { class: "chip", title: `${input.function} at ${place(input.at[0], input.at[1])}` }, `${input.name} = ${input.value}`))));
      if (data.reproduce.command) parts.push(make("code", { class: "command" }, data.reproduce.command));
      if (data.reproduce.harness) parts.push(make("code", { class: "command" }, data.reproduce.harness));
      if (run && run.replay) parts.push(make("p", { class: "faint" }, `Replay ${run.replay.outcome}${run.replay.why ? `: ${run.replay.why}` : ""}`));
      if (data.assumptions.length) parts.push(make("h2", {}, "This rests on"), data.assumptions.map((text) => make("p", { class: "faint" }, text)));
      if (data.stats.incomplete.length) parts.push(make("p", { class: "faint" }, `Cut short by the budget: ${data.stats.incomplete.join(", ")}`));
      return parts;
    },
    run: () => {
      const run = data.runs[state.run], stops = walk();
      const matters = new Set(run.slice);
      return [controls(stops.length, runPicker()), stepList(stops, (stop) => run.slice.length > 0 && !matters.has(stop.step))];
    },
    slice: () => {
      const run = data.runs[state.run], stops = walk();
      return [make("p", { class: "faint", style: { "margin-bottom": "8px" } }, `${stops.length} of ${count(run.steps.length, "step")} decide whether the run fails.`), controls(stops.length, runPicker()), stepList(stops)];
    },
    focus: () => {
      const focus = data.focus[state.focus], stops = walk().map((stop) => ({ ...stop, text: stop.text.replace(/: (true|false)$/, "") }));
      const reduced = data.reduced.find((one) => one.focus === state.focus);
      return [
        data.focus.length > 1 && make("div", { class: "pick", role: "group", "aria-label": "Sequences" }, data.focus.map((one, index) => make("button", { type: "button", "aria-pressed": index === state.focus ? "true" : "false", onclick: () => { state.focus = index; state.position = -1; go(0); } }, `rank ${one.rank}${data.focus.filter((other) => other.rank === one.rank).length > 1 ? ` · ${index + 1}` : ""}`))),
        controls(stops.length), stepList(stops, null, "wide"),
        make("h2", {}, "It needs"), focus.assumptions.length ? make("p", {}, assumptions(focus)) : make("p", { class: "faint" }, "nothing of the inputs"),
        reduced && reduced.assumptions.length !== focus.assumptions.length && make("p", { class: "faint" }, reduced.assumptions.length ? `Every sequence needs ${reduced.assumptions.join(" and ")}.` : "None of it is needed by every sequence."),
        !focus.feasible && make("p", { class: "faint" }, "No run is known that executes all of it."),
      ];
    },
    neighbourhood: () => {
      const hood = data.neighbourhoods[state.hood];
      return [
        data.neighbourhoods.length > 1 && make("div", { class: "pick", role: "group", "aria-label": "Neighbourhoods" }, data.neighbourhoods.map((one, index) => make("button", { type: "button", "aria-pressed": index === state.hood ? "true" : "false", onclick: () => { state.hood = index; state.position = -1; go(0); } }, `sequence ${one.focus + 1}`))),
        make("p", { class: "faint", style: { "margin-bottom": "8px" } }, "The fault is likely to be among these lines."), controls(hood.lines.length), faults(hood, false),
        hood.marked.length > hood.lines.length && make("p", { class: "faint", style: { "margin-top": "12px" } }, `Marked in all: ${hood.marked.map(([file, line]) => short(file, line)).join(", ")}`),
      ];
    },
    graphs: () => {
      const chosen = state.graph === null ? ($("graph-calls") ? "calls" : "0") : state.graph;
      const options = [$("graph-calls") && make("option", { value: "calls", selected: chosen === "calls" }, "calls"), ...data.procedures.map((procedure, index) => make("option", { value: index, selected: chosen === `${index}` }, procedure.name))].filter(Boolean);
      const template = $(`graph-${chosen}`);
      const procedure = data.procedures[chosen];
      return [
        make("label", {}, make("span", { class: "hidden" }, "Graph"), make("select", { "aria-label": "Graph", onchange: (event) => { state.graph = event.target.value; showPanel(); } }, options)),
        template ? make("div", { class: "picture" }, template.content.cloneNode(true)) : make("p", { class: "faint", style: { "margin-top": "12px" } }, procedure && procedure.note ? `Not drawn: ${procedure.note}.` : "Nothing to draw."),
      ];
    },
  };
  // The lines of a neighbourhood as they are executed; in the overview, where a change repairs comes first, then what is suspicious.
  const faults = (hood, jumps) => {
    const score = (index) => data.suspicion[key(...hood.lines[index])];
    const repairs = (index) => hood.repairs.some(([file, line]) => file === hood.lines[index][0] && line === hood.lines[index][1]);
    const order = hood.lines.map((_, index) => index);
    if (jumps) order.sort((a, b) => Number(repairs(b)) - Number(repairs(a)) || (score(b) || 0) - (score(a) || 0));
    return make("ol", { class: "steps bars" }, order.map((index) => {
      const [file, line] = hood.lines[index];
      return make("li", {}, make("button", { type: "button", "aria-current": !jumps && index === state.position ? "step" : null, onclick: () => { if (jumps) { state.hood = 0; tab("neighbourhood"); } go(index); } },
        make("b", {}, short(file, line)), make("span", { class: "t" }, (sources[file] && sources[file].lines[line - 1] || "").trim()),
        make("span", { class: "score" }, repairs(index) && make("span", { class: "fix", title: "another value or decision here makes all runs pass that were tried" }, "repairs"),
          score(index) !== undefined && [make("span", { class: "meter" }, make("i", { style: { width: `${Math.round(100 * score(index))}%` } })), score(index).toFixed(2)])));
    }));
  };

  const TABS = [["overview", "Overview"], ["run", "Run"], ["slice", "Slice"], ["focus", "Focus"], ["neighbourhood", "Neighbourhood"], ["graphs", "Graphs"]];
  const available = (id) => ({ overview: true, run: data.runs.length > 0, slice: data.runs.length > 0 && data.runs[state.run].slice.length > 0, focus: data.focus.length > 0, neighbourhood: data.neighbourhoods.length > 0, graphs: data.procedures.length > 0 })[id];
  const showTabs = () => $("tabs").replaceChildren(...TABS.map(([id, label]) => make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-selected": state.tab === id ? "true" : "false", "aria-controls": "panel", tabindex: state.tab === id ? "0" : "-1", disabled: !available(id), onclick: () => enter(id) }, label)));
  const showPanel = () => {
    const panel = $("panel"), kept = document.activeElement && panel.contains(document.activeElement) ? [...panel.querySelectorAll("button, select")].indexOf(document.activeElement) : -1;
    const top = panel.scrollTop;
    shown = null;
    panel.replaceChildren(...views[state.tab]().flat(Infinity).filter(Boolean));
    panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
    panel.scrollTop = top;
    center();
    if (kept >= 0) { const again = panel.querySelectorAll("button, select")[kept]; if (again && !again.disabled) again.focus({ preventScroll: true }); else panel.focus({ preventScroll: true }); }
    here();
  };
  const tab = (id) => {
    if (!available(id)) return;
    state.tab = id;
    state.position = -1;
    showTabs();
    clear();
    $("values").hidden = true;
    $("panel").scrollTop = 0;
  };
  // Opens a view; what can be walked starts where the view before was, if that is a part of it.
  const enter = (id) => {
    if (!available(id)) return;
    const stops = walk(), before = state.position >= 0 ? stops[state.position] : null;
    tab(id);
    const next = walk();
    if (!next.length) { showPanel(); return; }
    const same = before ? next.findIndex((stop) => (before.step !== undefined && stop.step === before.step) || (before.step === undefined && stop.at && before.at && stop.at[0] === before.at[0] && stop.at[1] === before.at[1])) : -1;
    go(Math.max(0, same));
  };
  const here = () => {
    if (state.tab !== "graphs") return;
    const nodes = [...document.querySelectorAll(".graph .node")];
    const line = current ? key(current.file, current.line) : state.line;
    nodes.forEach((node, index) => {
      node.classList.toggle("here", line !== null && node.dataset.at === line);
      node.tabIndex = index === 0 ? 0 : -1;
      const choose = () => {
        if (node.dataset.procedure !== undefined) { state.graph = node.dataset.procedure; showPanel(); }
        else if (node.dataset.at) pick(...node.dataset.at.split(":").map(Number), "graphs");
      };
      node.onclick = choose;
      node.onkeydown = (event) => {
        const to = { ArrowDown: index + 1, ArrowUp: index - 1 }[event.key];
        if (to !== undefined && nodes[to]) { event.preventDefault(); node.tabIndex = -1; nodes[to].tabIndex = 0; nodes[to].focus(); }
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
      };
    });
  };

  // --- A line and what is known of it.
  const card = (file, line, note) => {
    const at = key(file, line), mark = (data.marks[file] || "")[line - 1] || ".";
    const words = { c: "on a failing run", i: "perhaps on a failing run; none was found", o: "cleared: on no failing run", ".": "no statement" };
    const rows = [];
    const add = (title, content) => rows.push(make("dt", {}, title), make("dd", {}, content));
    if (data.suspicion[at] !== undefined) add("Suspicion", [make("span", { class: "meter" }, make("i", { style: { width: `${100 * data.suspicion[at]}%` } })), data.suspicion[at].toFixed(2)]);
    if (data.stores[at]) add("Fails with", data.stores[at].slice(0, 12).map((all, index) => make("div", {}, index > 0 && make("span", { class: "and" }, "or"), all.length ? all.map((one, position) => [position > 0 && make("span", { class: "and" }, "and"), make("span", { class: "chip" }, one)]) : make("span", { class: "faint" }, "any values"))));
    if (data.predicates[at]) add("Tracked", data.predicates[at].map((one) => make("span", { class: "chip" }, one)));
    const invariants = data.invariants.filter((one) => one.at[0] === file && one.at[1] === line);
    if (invariants.length) add("Always holds", invariants.map((one) => make("span", { class: "chip" }, one.formula)));
    const run = data.through[at];
    if (run !== undefined && data.runs[run]) {
      const slice = data.runs[run].slice.some((step) => { const place = data.runs[run].steps[step].at; return place && place[0] === file && place[1] === line; });
      add("Run", `run ${run + 1}, ${count(data.runs[run].steps.length, "step")}; ${slice ? "this line is in its slice" : "this line is not in its slice"}`);
    }
    if (note) add("Run", note);
    $("line").replaceChildren(make("h2", {}, data.sources.length > 1 ? `${name(file)}:${line}` : `Line ${line}`, make("small", {}, words[mark]),
      make("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => { $("line").hidden = true; unpick(); } }, "×")), make("dl", {}, rows));
    $("line").hidden = false;
  };
  const unpick = () => { document.querySelectorAll(".l.picked").forEach((element) => element.classList.remove("picked")); state.line = null; };
  const pick = (file, line, stay) => {
    if (file !== state.file) open(file);
    unpick();
    const target = row(line);
    if (!target) return;
    state.line = key(file, line);
    target.classList.add("picked");
    reach(target);
    reveal(line);
    card(file, line);
    const run = data.through[state.line];
    if (stay) { mark({ at: [file, line, 1, line, 1], whole: true }); here(); return; }
    if (run !== undefined && data.runs[run]) return through(run, file, line);
    if (state.tab === "run" || state.tab === "slice") { tab("overview"); showPanel(); }
    const letter = (data.marks[file] || "")[line - 1];
    if (data.live && letter !== "o" && letter !== ".") ask(file, line);
  };
  const through = (run, file, line) => {
    state.run = run;
    tab("run");
    const step = data.runs[run].steps.findIndex(({ at }) => at && at[0] === file && at[1] === line);
    go(Math.max(0, step));
  };
  const ask = async (file, line) => {
    card(file, line, "asking …");
    try {
      const answer = await (await fetch(`/through?file=${file}&line=${line}`)).json();
      if (answer.run) {
        data.runs.push(answer.run);
        data.through[key(file, line)] = data.runs.length - 1;
        if (state.line === key(file, line)) { card(file, line); through(data.runs.length - 1, file, line); }
      } else if (state.line === key(file, line)) card(file, line, answer.reason || "no failing run was found");
    } catch (error) {
      if (state.line === key(file, line)) card(file, line, "the server does not answer");
    }
  };

  // --- The whole file at a glance.
  const drawMap = () => {
    const canvas = $("map"), marks = data.marks[state.file] || "", style = getComputedStyle(document.documentElement);
    const height = canvas.clientHeight, width = canvas.clientWidth, scale = window.devicePixelRatio || 1;
    if (!height || !marks.length) return;
    canvas.width = width * scale; canvas.height = height * scale;
    const paint = canvas.getContext("2d");
    paint.scale(scale, scale);
    const colour = { c: style.getPropertyValue("--hot"), i: style.getPropertyValue("--warm"), o: style.getPropertyValue("--cool") };
    const unit = Math.min(height / marks.length, 4);
    for (let index = 0; index < marks.length; index++) {
      const mark = marks[index];
      if (!colour[mark]) continue;
      const score = data.suspicion[key(state.file, index + 1)] || 0;
      paint.globalAlpha = mark === "o" ? 0.25 : 0.3 + 0.7 * score;
      paint.fillStyle = colour[mark];
      paint.fillRect(0, index * unit, width, Math.max(unit, 0.8));
    }
    canvas.parentNode.used = unit * marks.length;
    drawView();
  };
  const drawView = () => {
    const box = $("scroll"), used = $("map").parentNode.used || 0, rows = (data.marks[state.file] || "").length * 21;
    const fits = !rows || rows <= box.clientHeight;
    $("map").style.visibility = fits ? "hidden" : "visible";
    $("view").hidden = fits;
    if (fits) return;
    $("view").style.top = `${(box.scrollTop / rows) * used}px`;
    $("view").style.height = `${Math.max(6, (box.clientHeight / rows) * used)}px`;
  };

  // --- Finding.
  const find = (next) => {
    const text = $("search").value.trim();
    document.querySelectorAll(".l.hit").forEach((element) => element.classList.remove("hit"));
    $("found").textContent = "";
    if (!text) { state.hits = []; return; }
    if (/^:?\d+$/.test(text)) {
      const line = Number(text.replace(":", ""));
      state.hits = [];
      if (row(line)) { row(line).classList.add("hit"); reveal(line); reach(row(line)); if (next) pick(state.file, line); }
      return;
    }
    const wanted = text.toLowerCase(), lines = sources[state.file].lines;
    const hits = lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index + 1] : []));
    const same = state.wanted === wanted && state.wantedFile === state.file;
    state.hit = hits.length === 0 ? -1 : same ? (state.hit + (next || 0) + hits.length) % hits.length : 0;
    state.wanted = wanted; state.wantedFile = state.file; state.hits = hits;
    for (const hit of hits.slice(0, 500)) row(hit).classList.add("hit");
    $("found").textContent = hits.length ? `${state.hit + 1}/${hits.length}` : "none";
    if (hits.length) { reveal(hits[state.hit]); reach(row(hits[state.hit])); }
  };

  // --- Light and dark.
  const media = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("wherefore-theme"); } catch { /* not allowed: the system decides */ }
  const theme = () => {
    const dark = chosen ? chosen === "dark" : media.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    $("theme").textContent = dark ? "Light" : "Dark";
    $("theme").setAttribute("aria-pressed", dark ? "true" : "false");
    $("theme").setAttribute("aria-label", dark ? "Dark colours are on" : "Dark colours are off");
    drawMap();
  };

  // --- What people do.
  $("source").addEventListener("click", (event) => {
    const line = event.target.closest(".l");
    if (!line || (window.getSelection() && !window.getSelection().isCollapsed)) return;
    pick(state.file, line.number);
  });
  $("source").addEventListener("keydown", (event) => {
    const line = event.target.closest(".l");
    if (!line) return;
    const to = { ArrowDown: line.number + 1, ArrowUp: line.number - 1, PageDown: line.number + 20, PageUp: line.number - 20 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const target = row(Math.max(1, Math.min(sources[state.file].rows.length, to)));
    if (target) { reach(target); reveal(target.number); target.querySelector(".n").focus({ preventScroll: true }); }
  });
  $("tabs").addEventListener("keydown", (event) => {
    const enabled = TABS.map(([id]) => id).filter(available), at = enabled.indexOf(state.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: enabled.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    enter(enabled[(to + enabled.length) % enabled.length]);
    $(`tab-${state.tab}`).focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, dialog[open]")) return;
    const begin = () => { if (!walk().length && available("run")) tab("run"); };
    const keys = {
      ArrowRight: () => { begin(); go(state.position + 1); }, j: () => { begin(); go(state.position + 1); },
      ArrowLeft: () => { begin(); go(state.position - 1); }, k: () => { begin(); go(state.position - 1); },
      Home: () => { begin(); go(0); }, End: () => { begin(); go(walk().length - 1); },
      "/": () => { $("search").focus(); $("search").select(); }, "?": () => $("keys").showModal(),
    };
    TABS.forEach(([id], index) => { keys[`${index + 1}`] = () => enter(id); });
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  $("search").addEventListener("input", () => find(0));
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); find(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { $("search").value = ""; find(0); $("search").blur(); }
  });
  $("theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("wherefore-theme", chosen); } catch { /* not allowed: it is forgotten */ }
    theme();
  });
  media.addEventListener("change", theme);
  $("help").addEventListener("click", () => $("keys").showModal());
  $("close").addEventListener("click", () => $("keys").close());
  $("scroll").addEventListener("scroll", drawView, { passive: true });
  window.addEventListener("resize", drawMap);
  $("map").parentNode.addEventListener("click", (event) => {
    const box = $("map").getBoundingClientRect();
    const lines = (data.marks[state.file] || "").length;
    const line = Math.ceil(((event.clientY - box.top) / ($("map").parentNode.used || 1)) * lines);
    reveal(Math.max(1, Math.min(lines, line)));
  });
  $("file").addEventListener("change", (event) => { clear(); open(Number(event.target.value)); showPanel(); });

  // --- The first look.
  const start = () => {
    $("verdict").textContent = { unsafe: "can fail", safe: "safe", unknown: "unknown" }[data.verdict];
    $("verdict").classList.add(data.verdict);
    document.documentElement.dataset.verdict = data.verdict;
    $("name").textContent = data.file || "program";
    const error = data.error;
    $("sentence").textContent = data.verdict === "safe" ? "No run fails."
      : data.verdict === "unknown" ? data.reason || ""
      : error ? `${{ assertion: "The assertion", label: `The label ${error.label || ""}` }[error.kind] || `${error.label || "The error"}`} ${{ assertion: "can fail", label: "can be reached" }[error.kind] || "can be called"} at ${place(error.at[0], error.at[1])}.` : "Some run fails.";
    data.sources.forEach((source, index) => $("file").append(make("option", { value: index }, source.name)));
    const several = data.sources.length > 1;
    $("file").closest("label").hidden = !several;
    $("filename").hidden = several;
    open(error && data.sources[error.at[0]] ? error.at[0] : 0);
    theme();
    showTabs();
    showPanel();
    $("print").append(...views.overview().flat(Infinity).filter(Boolean));
    if (error) reveal(error.at[1]);
  };
  start();
})();
