// The views of the panel. Each makes its elements anew from the state.
const truth = (holds) =>
  holds === true
    ? make("span", { class: "yes" }, "true")
    : holds === false
      ? make("span", { class: "no" }, "false")
      : null;
const controls = (length, more) => {
  const button = (label, text, to, off) =>
    make("button", { type: "button", "aria-label": label, title: label, disabled: off, onclick: () => go(to()) }, text);
  const at = state.position;
  return make(
    "div",
    { class: "walk" },
    button("first step", "⇤", () => 0, at <= 0),
    button("step before", "←", () => state.position - 1, at <= 0),
    button("next step", "→", () => state.position + 1, at >= length - 1),
    button("last step", "⇥", () => length - 1, at >= length - 1),
    make(
      "span",
      { id: "where", "aria-live": "polite" },
      at < 0 ? count(length, "step") : `step ${at + 1} of ${length}`,
    ),
    more,
  );
};
const stepList = (stops, dim, className) => {
  // Long runs show a window around the current step.
  const around = Math.max(0, state.position);
  const [from, to] =
    stops.length > 1200 ? [Math.max(0, around - 250), Math.min(stops.length, around + 250)] : [0, stops.length];
  const items = [],
    buttons = new Map();
  let procedure = null;
  if (from > 0) items.push(make("li", { class: "gap" }, `… ${from} steps before`));
  for (let index = from; index < to; index++) {
    const stop = stops[index];
    if (stop.procedure !== undefined && stop.procedure !== procedure && procedure !== null)
      items.push(make("li", { class: "proc", style: { "--depth": stop.depth || 0 } }, stop.procedure));
    procedure = stop.procedure;
    buttons.set(
      index,
      make(
        "button",
        {
          type: "button",
          class: dim && dim(stop) ? "dim" : null,
          "aria-current": index === state.position ? "step" : null,
          onclick: () => go(index),
        },
        make("b", {}, stop.at ? short(stop.at[0], stop.at[1]) : ""),
        make("span", { class: "t", style: { "--depth": stop.depth || 0 }, title: stop.text }, stop.text),
        truth(stop.holds) || make("span"),
      ),
    );
    items.push(make("li", {}, buttons.get(index)));
  }
  if (to < stops.length) items.push(make("li", { class: "gap" }, `… ${stops.length - to} more steps`));
  shown = { about: about(), buttons, long: stops.length > 1200 };
  return make("ol", { class: `steps ${className || ""}` }, items);
};
const runPicker = () =>
  data.runs.length > 1 &&
  make(
    "select",
    {
      "aria-label": "Run",
      onchange: (event) => {
        state.run = Number(event.target.value);
        state.position = -1;
        clear();
        go(0);
      },
    },
    data.runs.map((_, index) => make("option", { value: index, selected: index === state.run }, `run ${index + 1}`)),
  );
const ranges = (file) => {
  const out = [];
  [...(data.marks[file] || "")].forEach((mark, index) => {
    if (mark !== "c" && mark !== "i") return;
    const last = out[out.length - 1];
    if (last && last[1] === index) last[1] = index + 1;
    else out.push([index + 1, index + 1]);
  });
  const texts = out.slice(0, 30).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return texts.join(", ") + (out.length > 30 ? ` and ${out.length - 30} more` : "");
};
const assumptions = (focus) =>
  focus.assumptions.map((assumption, index) => [
    index > 0 && make("span", { class: "and" }, "and"),
    make(
      "span",
      { class: "chip", title: `demanded at ${place(...assumption.at)}` },
      assumption.text + (assumption.overflow ? " (unless arithmetic overflows)" : ""),
    ),
  ]);

const views = {
  overview: () => {
    const parts = [];
    const { inside, outside, confirmed, exact } = data.lines;
    if (data.reason)
      parts.push(
        make("h2", {}, data.verdict === "unknown" ? "Reason" : "Note"),
        make("p", { class: "lead" }, data.reason),
      );
    if (data.checks.length > 1 || data.checks.some((check) => check.verdict === "unreachable"))
      parts.push(
        make("h2", {}, "Checks"),
        make(
          "ul",
          { class: "checks" },
          data.checks.map((check) =>
            make(
              "li",
              { class: check.verdict },
              make("b", {}, { safe: "holds", unsafe: "can fail" }[check.verdict] || check.verdict),
              make(
                "span",
                {},
                `${place(check.at[0], check.at[1])}: ${check.kind}${check.label ? ` ${check.label}` : ""}` +
                  (check.reason ? ` (${check.reason})` : ""),
              ),
            ),
          ),
        ),
      );
    if (inside + outside > 0) {
      const all = inside + outside,
        found = Math.min(confirmed, inside);
      parts.push(make("h2", {}, "Where"));
      parts.push(
        make(
          "p",
          { class: "lead" },
          data.verdict === "safe"
            ? "No line lies on a failing run."
            : `${inside} of ${count(all, "line")} with statements ${exact ? "lie" : "may lie"} on failing runs${exact ? ", each confirmed by a run." : confirmed ? `; ${confirmed} are confirmed by a run.` : "."}`,
        ),
      );
      parts.push(
        make(
          "div",
          { class: "share", "aria-hidden": "true" },
          [
            ["c", found],
            ["i", inside - found],
            ["o", outside],
          ]
            .filter(([, part]) => part > 0)
            .map(([mark, part]) => make("i", { class: mark, style: { width: `${(100 * part) / all}%` } })),
        ),
      );
      parts.push(make("p", { class: "faint" }, `${Math.round((100 * outside) / all)} % cleared`));
      if (inside)
        data.sources.forEach((source, file) => {
          const text = ranges(file);
          if (text)
            parts.push(
              make("p", { class: "faint" }, data.sources.length > 1 ? `${source.name}: ${text}` : `Lines ${text}`),
            );
        });
    }
    const focus = data.focus[0];
    if (focus) {
      const run = data.runs[focus.run];
      parts.push(
        make("h2", {}, "Why"),
        make(
          "p",
          { class: "lead" },
          `The failure depends on ${focus.statements.length}${run ? ` of the ${count(run.steps.length, "step")} of a run` : " statements"}.`,
        ),
      );
      const shown = focus.statements.slice(0, 14);
      parts.push(
        make(
          "ol",
          { class: "steps wide", style: { "margin-top": "8px" } },
          shown.map((statement, index) =>
            make(
              "li",
              {},
              make(
                "button",
                {
                  type: "button",
                  onclick: () => {
                    tab("focus");
                    state.focus = 0;
                    go(index);
                  },
                },
                make("b", {}, short(statement.at[0], statement.at[1])),
                make("span", { class: "t" }, statement.text.replace(/: (true|false)$/, "")),
                truth(statement.holds) || make("span"),
              ),
            ),
          ),
        ),
      );
      if (focus.statements.length > shown.length)
        parts.push(make("p", { class: "faint" }, `and ${focus.statements.length - shown.length} more`));
      parts.push(
        make("h2", {}, "When"),
        focus.assumptions.length
          ? make("p", {}, assumptions(focus))
          : make(
              "p",
              {},
              data.always
                ? "Always: no run ends without failing."
                : "No condition on named inputs; it depends on choices along the run.",
            ),
      );
    }
    const hood = data.neighbourhoods[0];
    if (hood && hood.lines.length) parts.push(make("h2", {}, "Likely fault"), faults(hood, true));
    if (data.invariants.length) {
      parts.push(make("h2", {}, "Invariants"));
      parts.push(
        make(
          "ol",
          { class: "steps wide" },
          data.invariants
            .slice(0, 200)
            .map((one) =>
              make(
                "li",
                {},
                make(
                  "button",
                  { type: "button", onclick: () => pick(one.at[0], one.at[1]) },
                  make("b", {}, short(one.at[0], one.at[1])),
                  make("span", { class: "t" }, one.formula),
                  one.loop ? make("span", { class: "faint" }, "loop") : make("span"),
                ),
              ),
            ),
        ),
      );
    }
    const run = data.runs[0];
    if (data.reproduce.command || (run && run.inputs.length)) parts.push(make("h2", {}, "Reproduce"));
    if (run && run.inputs.length)
      parts.push(
        make(
          "p",
          {},
          run.inputs
            .slice(0, 40)
            .map((input) =>
              make(
                "span",
                { class: "chip", title: `${input.function} at ${place(input.at[0], input.at[1])}` },
                `${input.name} = ${input.value}`,
              ),
            ),
        ),
      );
    if (data.reproduce.command) parts.push(make("code", { class: "command" }, data.reproduce.command));
    if (data.reproduce.harness) parts.push(make("code", { class: "command" }, data.reproduce.harness));
    if (run && run.replay)
      parts.push(
        make("p", { class: "faint" }, `Replay ${run.replay.outcome}${run.replay.why ? `: ${run.replay.why}` : ""}`),
      );
    if (data.assumptions.length)
      parts.push(
        make("h2", {}, "This rests on"),
        data.assumptions.map((text) => make("p", { class: "faint" }, text)),
      );
    if (data.left_out)
      parts.push(make("p", { class: "faint" }, `${count(data.left_out, "more run")} would make this page too large.`));
    if (data.stats.incomplete.length)
      parts.push(make("p", { class: "faint" }, `Cut short by the budget: ${data.stats.incomplete.join(", ")}`));
    return parts;
  },
  run: () => {
    const run = data.runs[state.run],
      stops = walk();
    const matters = new Set(run.slice);
    return [
      controls(stops.length, runPicker()),
      stepList(stops, (stop) => run.slice.length > 0 && !matters.has(stop.step)),
    ];
  },
  slice: () => {
    const run = data.runs[state.run],
      stops = walk();
    return [
      make(
        "p",
        { class: "faint", style: { "margin-bottom": "8px" } },
        `${stops.length} of ${count(run.steps.length, "step")} decide whether the run fails.`,
      ),
      controls(stops.length, runPicker()),
      stepList(stops),
    ];
  },
  focus: () => {
    const focus = data.focus[state.focus],
      stops = walk().map((stop) => ({ ...stop, text: stop.text.replace(/: (true|false)$/, "") }));
    const reduced = data.reduced.find((one) => one.focus === state.focus);
    return [
      data.focus.length > 1 &&
        make(
          "div",
          { class: "pick", role: "group", "aria-label": "Sequences" },
          data.focus.map((one, index) =>
            make(
              "button",
              {
                type: "button",
                "aria-pressed": index === state.focus ? "true" : "false",
                onclick: () => {
                  state.focus = index;
                  state.position = -1;
                  go(0);
                },
              },
              `rank ${one.rank}${data.focus.filter((other) => other.rank === one.rank).length > 1 ? ` · ${index + 1}` : ""}`,
            ),
          ),
        ),
      controls(stops.length),
      stepList(stops, null, "wide"),
      make("h2", {}, "It needs"),
      focus.assumptions.length
        ? make("p", {}, assumptions(focus))
        : make("p", { class: "faint" }, data.always ? "nothing of the inputs" : "no condition on named inputs"),
      reduced &&
        reduced.assumptions.length !== focus.assumptions.length &&
        make(
          "p",
          { class: "faint" },
          reduced.assumptions.length
            ? `Every sequence needs ${reduced.assumptions.join(" and ")}.`
            : "None of it is needed by every sequence.",
        ),
      !focus.feasible && make("p", { class: "faint" }, "No run is known that executes all of it."),
    ];
  },
  neighbourhood: () => {
    const hood = data.neighbourhoods[state.hood];
    return [
      data.neighbourhoods.length > 1 &&
        make(
          "div",
          { class: "pick", role: "group", "aria-label": "Neighbourhoods" },
          data.neighbourhoods.map((one, index) =>
            make(
              "button",
              {
                type: "button",
                "aria-pressed": index === state.hood ? "true" : "false",
                onclick: () => {
                  state.hood = index;
                  state.position = -1;
                  go(0);
                },
              },
              `sequence ${one.focus + 1}`,
            ),
          ),
        ),
      make("p", { class: "faint", style: { "margin-bottom": "8px" } }, "The fault is likely to be among these lines."),
      controls(hood.lines.length),
      faults(hood, false),
      hood.marked.length > hood.lines.length &&
        make(
          "p",
          { class: "faint", style: { "margin-top": "12px" } },
          `Marked in all: ${hood.marked.map(([file, line]) => short(file, line)).join(", ")}`,
        ),
    ];
  },
  graphs: () => {
    const chosen = state.graph === null ? ($("graph-calls") ? "calls" : "0") : state.graph;
    const options = [
      $("graph-calls") && make("option", { value: "calls", selected: chosen === "calls" }, "calls"),
      ...data.procedures.map((procedure, index) =>
        make("option", { value: index, selected: chosen === `${index}` }, procedure.name),
      ),
    ].filter(Boolean);
    const template = $(`graph-${chosen}`);
    const procedure = data.procedures[chosen];
    return [
      make(
        "label",
        {},
        make("span", { class: "hidden" }, "Graph"),
        make(
          "select",
          {
            "aria-label": "Graph",
            onchange: (event) => {
              state.graph = event.target.value;
              showPanel();
            },
          },
          options,
        ),
      ),
      template
        ? make("div", { class: "picture" }, template.content.cloneNode(true))
        : make(
            "p",
            { class: "faint", style: { "margin-top": "12px" } },
            procedure && procedure.note ? `Not drawn: ${procedure.note}.` : "Nothing to draw.",
          ),
    ];
  },
};
// The lines of a neighbourhood as they are executed; in the overview, where a change repairs comes first, then what is suspicious.
const faults = (hood, jumps) => {
  const score = (index) => data.suspicion[key(...hood.lines[index])];
  const repairs = (index) =>
    hood.repairs.some(([file, line]) => file === hood.lines[index][0] && line === hood.lines[index][1]);
  const order = hood.lines.map((_, index) => index);
  if (jumps) order.sort((a, b) => Number(repairs(b)) - Number(repairs(a)) || (score(b) || 0) - (score(a) || 0));
  return make(
    "ol",
    { class: "steps bars" },
    order.map((index) => {
      const [file, line] = hood.lines[index];
      return make(
        "li",
        {},
        make(
          "button",
          {
            type: "button",
            "aria-current": !jumps && index === state.position ? "step" : null,
            onclick: () => {
              if (jumps) {
                state.hood = 0;
                tab("neighbourhood");
              }
              go(index);
            },
          },
          make("b", {}, short(file, line)),
          make("span", { class: "t" }, ((sources[file] && sources[file].lines[line - 1]) || "").trim()),
          make(
            "span",
            { class: "score" },
            repairs(index) &&
              make(
                "span",
                { class: "fix", title: "another value or decision here makes all runs pass that were tried" },
                "repairs",
              ),
            score(index) !== undefined && [
              make("span", { class: "meter" }, make("i", { style: { width: `${Math.round(100 * score(index))}%` } })),
              score(index).toFixed(2),
            ],
          ),
        ),
      );
    }),
  );
};
