// What people do: finding, colours, mouse and keys. And the first look.
const find = (next) => {
  const text = $("search").value.trim();
  document.querySelectorAll(".l.hit").forEach((element) => element.classList.remove("hit"));
  $("found").textContent = "";
  if (!text) {
    state.hits = [];
    return;
  }
  if (/^:?\d+$/.test(text)) {
    const line = Number(text.replace(":", ""));
    state.hits = [];
    if (row(line)) {
      row(line).classList.add("hit");
      reveal(line);
      reach(row(line));
      if (next) pick(state.file, line);
    }
    return;
  }
  const wanted = text.toLowerCase(),
    lines = sources[state.file].lines;
  const hits = lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index + 1] : []));
  const same = state.wanted === wanted && state.wantedFile === state.file;
  state.hit = hits.length === 0 ? -1 : same ? (state.hit + (next || 0) + hits.length) % hits.length : 0;
  state.wanted = wanted;
  state.wantedFile = state.file;
  state.hits = hits;
  for (const hit of hits.slice(0, 500)) row(hit).classList.add("hit");
  $("found").textContent = hits.length ? `${state.hit + 1}/${hits.length}` : "none";
  if (hits.length) {
    reveal(hits[state.hit]);
    reach(row(hits[state.hit]));
  }
};

const media = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
try {
  chosen = localStorage.getItem("wherefore-theme");
} catch {
  /* not allowed: the system decides */
}
const theme = () => {
  const dark = chosen ? chosen === "dark" : media.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").textContent = dark ? "Light" : "Dark";
  $("theme").setAttribute("aria-pressed", dark ? "true" : "false");
  $("theme").setAttribute("aria-label", dark ? "Dark colours are on" : "Dark colours are off");
  drawMap();
};

$("source").addEventListener("click", (event) => {
  const line = event.target.closest(".l");
  if (!line || (window.getSelection() && !window.getSelection().isCollapsed)) return;
  pick(state.file, line.number);
});
$("source").addEventListener("keydown", (event) => {
  const line = event.target.closest(".l");
  if (!line) return;
  const to = {
    ArrowDown: line.number + 1,
    ArrowUp: line.number - 1,
    PageDown: line.number + 20,
    PageUp: line.number - 20,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const target = row(Math.max(1, Math.min(sources[state.file].rows.length, to)));
  if (target) {
    reach(target);
    reveal(target.number);
    target.querySelector(".n").focus({ preventScroll: true });
  }
});
$("tabs").addEventListener("keydown", (event) => {
  const enabled = TABS.map(([id]) => id).filter(available),
    at = enabled.indexOf(state.tab);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: enabled.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  enter(enabled[(to + enabled.length) % enabled.length]);
  $(`tab-${state.tab}`).focus();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, dialog[open]")) return;
  const begin = () => {
    if (!walk().length && available("run")) tab("run");
  };
  const keys = {
    ArrowRight: () => {
      begin();
      go(state.position + 1);
    },
    j: () => {
      begin();
      go(state.position + 1);
    },
    ArrowLeft: () => {
      begin();
      go(state.position - 1);
    },
    k: () => {
      begin();
      go(state.position - 1);
    },
    Home: () => {
      begin();
      go(0);
    },
    End: () => {
      begin();
      go(walk().length - 1);
    },
    "/": () => {
      $("search").focus();
      $("search").select();
    },
    "?": () => $("keys").showModal(),
  };
  TABS.forEach(([id], index) => {
    keys[`${index + 1}`] = () => enter(id);
  });
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
$("search").addEventListener("input", () => find(0));
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    find(event.shiftKey ? -1 : 1);
  }
  if (event.key === "Escape") {
    $("search").value = "";
    find(0);
    $("search").blur();
  }
});
$("theme").addEventListener("click", () => {
  chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("wherefore-theme", chosen);
  } catch {
    /* not allowed: it is forgotten */
  }
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
$("file").addEventListener("change", (event) => {
  clear();
  open(Number(event.target.value));
  showPanel();
});

const start = () => {
  $("verdict").textContent = { unsafe: "can fail", safe: "safe", unknown: "unknown" }[data.verdict];
  $("verdict").classList.add(data.verdict);
  document.documentElement.dataset.verdict = data.verdict;
  $("name").textContent = data.file || "program";
  const error = data.error;
  $("sentence").textContent =
    data.verdict === "safe"
      ? "No run fails."
      : data.verdict === "unknown"
        ? data.reason || ""
        : error
          ? `${{ assertion: "The assertion", label: `The label ${error.label || ""}` }[error.kind] || `${error.label || "The error"}`} ${{ assertion: "can fail", label: "can be reached", "error-call": "can be called", procedure: "can be called" }[error.kind] || ""} at ${place(error.at[0], error.at[1])}.`
          : "Some run fails.";
  data.sources.forEach((source, index) => $("file").append(make("option", { value: index }, source.name)));
  const letters = new Set(data.marks.join(""));
  document.querySelectorAll(".legend li").forEach((item) => {
    item.hidden = !letters.has(item.className);
  });
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
