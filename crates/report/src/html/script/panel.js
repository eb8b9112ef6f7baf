// The panel beside the source: its tabs, what is shown in it, and the graphs' points.
const TABS = [
  ["overview", "Overview"],
  ["run", "Run"],
  ["slice", "Slice"],
  ["focus", "Focus"],
  ["neighbourhood", "Neighbourhood"],
  ["graphs", "Graphs"],
];
const available = (id) =>
  ({
    overview: true,
    run: data.runs.length > 0,
    slice: data.runs.length > 0 && data.runs[state.run].slice.length > 0,
    focus: data.focus.length > 0,
    neighbourhood: data.neighbourhoods.length > 0,
    graphs: data.procedures.length > 0,
  })[id];
const showTabs = () =>
  $("tabs").replaceChildren(
    ...TABS.map(([id, label]) =>
      make(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${id}`,
          "aria-selected": state.tab === id ? "true" : "false",
          "aria-controls": "panel",
          tabindex: state.tab === id ? "0" : "-1",
          disabled: !available(id),
          onclick: () => enter(id),
        },
        label,
      ),
    ),
  );
const showPanel = () => {
  const panel = $("panel"),
    kept =
      document.activeElement && panel.contains(document.activeElement)
        ? [...panel.querySelectorAll("button, select")].indexOf(document.activeElement)
        : -1;
  const top = panel.scrollTop;
  shown = null;
  panel.replaceChildren(...views[state.tab]().flat(Infinity).filter(Boolean));
  panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
  panel.scrollTop = top;
  center();
  if (kept >= 0) {
    const again = panel.querySelectorAll("button, select")[kept];
    if (again && !again.disabled) again.focus({ preventScroll: true });
    else panel.focus({ preventScroll: true });
  }
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
  const stops = walk(),
    before = state.position >= 0 ? stops[state.position] : null;
  tab(id);
  const next = walk();
  if (!next.length) {
    showPanel();
    return;
  }
  const picked = () => next.findIndex(({ at }) => at && key(at[0], at[1]) === state.line);
  const same = !before
    ? picked()
    : next.findIndex(
        (stop) =>
          (before.step !== undefined && stop.step === before.step) ||
          (before.step === undefined &&
            stop.at &&
            before.at &&
            stop.at[0] === before.at[0] &&
            stop.at[1] === before.at[1]),
      );
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
      if (node.dataset.procedure !== undefined) {
        state.graph = node.dataset.procedure;
        showPanel();
      } else if (node.dataset.at) pick(...node.dataset.at.split(":").map(Number), "graphs");
    };
    node.onclick = choose;
    node.onkeydown = (event) => {
      const to = { ArrowDown: index + 1, ArrowUp: index - 1 }[event.key];
      if (to !== undefined && nodes[to]) {
        event.preventDefault();
        node.tabIndex = -1;
        nodes[to].tabIndex = 0;
        nodes[to].focus();
      }
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose();
      }
    };
  });
};
