// The source: lines with colours and marks, the file that is open, and the whole file at a glance.
const sources = data.sources.map((source) => {
  const lines = source.text.split(/\r\n|\n/);
  if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
  return { lines, rows: null };
});
const WORDS = new Set(
  (
    "auto bool break case char const continue default do double else enum extern false float for goto if inline int long register " +
    "return short signed sizeof static struct switch true typedef union unsigned void volatile while decl begin end fi od then skip " +
    "define module local"
  ).split(" "),
);
const TOKEN =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/.*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|\d[\w.]*|^\s*#\s*\w+/g;

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
  for (let match; (match = TOKEN.exec(text));) {
    const token = match[0];
    if (token === "") {
      TOKEN.lastIndex++;
      continue;
    }
    let kind = "";
    if (token.startsWith("/*")) {
      kind = "m";
      open = !token.endsWith("*/") || token.length < 4;
    } else if (token.startsWith("//")) kind = "m";
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
  for (let from = 0; from < text.length;) {
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
  for (const focus of data.focus.slice(0, 1))
    for (const { at } of focus.statements)
      if (at[0] === file) {
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
      const text = source.lines[index],
        mark = marks[index] || ".";
      let classes;
      [classes, inside] = colours(text, inside);
      if (focused.has(index + 1)) marksOf(classes, text, index + 1, focused.get(index + 1), "f");
      const row = make(
        "div",
        { class: mark === "." ? "l" : `l ${mark}` },
        make(
          "button",
          { class: "n", type: "button", tabindex: "-1", "aria-label": `line ${index + 1}, ${MARKS[mark]}` },
          `${index + 1}`,
        ),
        make("span", { class: "h" }),
        make("code", {}, spans(text, classes)),
      );
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
  const target = row(line),
    box = $("scroll");
  if (!target) return;
  // Rows all have one height, so the place is known even where nothing is laid out yet.
  const height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
  const top = 10 + (line - 1) * height;
  if (top < box.scrollTop + height * 2 || top > box.scrollTop + box.clientHeight - height * 4)
    box.scrollTop = Math.max(0, top - box.clientHeight * 0.36);
};

const drawMap = () => {
  const canvas = $("map"),
    marks = data.marks[state.file] || "",
    style = getComputedStyle(document.documentElement);
  const height = canvas.clientHeight,
    width = canvas.clientWidth,
    scale = window.devicePixelRatio || 1;
  if (!height || !marks.length) {
    drawView();
    return;
  }
  canvas.width = width * scale;
  canvas.height = height * scale;
  const paint = canvas.getContext("2d");
  paint.scale(scale, scale);
  const colour = {
    c: style.getPropertyValue("--hot"),
    i: style.getPropertyValue("--warm"),
    o: style.getPropertyValue("--cool"),
  };
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
  const box = $("scroll"),
    used = $("map").parentNode.used || 0,
    rows = (data.marks[state.file] || "").length * 21;
  const fits = !rows || rows <= box.clientHeight;
  $("map").style.visibility = fits ? "hidden" : "visible";
  $("view").hidden = fits;
  if (fits) return;
  $("view").style.top = `${(box.scrollTop / rows) * used}px`;
  $("view").style.height = `${Math.max(6, (box.clientHeight / rows) * used)}px`;
};
