// A line and what is known of it; a failing run through it, asked for if the page is live.
const card = (file, line, note) => {
  const at = key(file, line),
    mark = (data.marks[file] || "")[line - 1] || ".";
  const words = {
    c: "on a failing run",
    i: "perhaps on a failing run; none was found",
    o: "cleared: on no failing run",
    ".": "no statement",
  };
  const rows = [];
  const add = (title, content) => rows.push(make("dt", {}, title), make("dd", {}, content));
  if (data.suspicion[at] !== undefined)
    add("Suspicion", [
      make("span", { class: "meter" }, make("i", { style: { width: `${100 * data.suspicion[at]}%` } })),
      data.suspicion[at].toFixed(2),
    ]);
  if (data.stores[at])
    add(
      "Fails with",
      data.stores[at]
        .slice(0, 12)
        .map((all, index) =>
          make(
            "div",
            {},
            index > 0 && make("span", { class: "and" }, "or"),
            all.length
              ? all.map((one, position) => [
                  position > 0 && make("span", { class: "and" }, "and"),
                  make("span", { class: "chip" }, one),
                ])
              : make("span", { class: "faint" }, "any values"),
          ),
        ),
    );
  if (data.predicates[at])
    add(
      "Tracked",
      data.predicates[at].map((one) => make("span", { class: "chip" }, one)),
    );
  const invariants = data.invariants.filter((one) => one.at[0] === file && one.at[1] === line);
  if (invariants.length)
    add(
      "Always holds",
      invariants.map((one) => make("span", { class: "chip" }, one.formula)),
    );
  const run = data.through[at];
  if (run !== undefined && data.runs[run]) {
    const slice = data.runs[run].slice.some((step) => {
      const place = data.runs[run].steps[step].at;
      return place && place[0] === file && place[1] === line;
    });
    add(
      "Run",
      `run ${run + 1}, ${count(data.runs[run].steps.length, "step")}; ${slice ? "this line is in its slice" : "this line is not in its slice"}`,
    );
  }
  if (note) add("Run", note);
  $("line").replaceChildren(
    make(
      "h2",
      {},
      data.sources.length > 1 ? `${name(file)}:${line}` : `Line ${line}`,
      make("small", {}, words[mark]),
      make(
        "button",
        {
          type: "button",
          class: "close",
          "aria-label": "Close",
          onclick: () => {
            $("line").hidden = true;
            unpick();
          },
        },
        "×",
      ),
    ),
    make("dl", {}, rows),
  );
  $("line").hidden = false;
};
const unpick = () => {
  document.querySelectorAll(".l.picked").forEach((element) => element.classList.remove("picked"));
  state.line = null;
};
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
  if (stay) {
    mark({ at: [file, line, 1, line, 1], whole: true });
    here();
    return;
  }
  if (run !== undefined && data.runs[run]) return through(run, file, line);
  if (state.tab === "run" || state.tab === "slice") {
    tab("overview");
    showPanel();
  }
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
      if (state.line === key(file, line)) {
        card(file, line);
        through(data.runs.length - 1, file, line);
      }
    } else if (state.line === key(file, line)) card(file, line, answer.reason || "no failing run was found");
  } catch (error) {
    if (state.line === key(file, line)) card(file, line, "the server does not answer");
  }
};
