// The data of the page, what is looked at, and elements made of text only: nothing of the data is ever read as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const state = {
  file: 0,
  line: null,
  tab: "overview",
  run: 0,
  position: -1,
  focus: 0,
  hood: 0,
  graph: null,
  hits: [],
  hit: -1,
};

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
};
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const key = (file, line) => `${file}:${line}`;
const name = (file) => (data.sources[file] ? data.sources[file].name : "");
const place = (file, line) => (data.sources.length > 1 ? `${name(file)}:${line}` : `line ${line}`);
const short = (file, line) => (data.sources.length > 1 && file !== state.file ? `${name(file)}:${line}` : `${line}`);
