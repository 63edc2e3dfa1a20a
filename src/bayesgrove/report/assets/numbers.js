// Numbers, texts and elements: what every view needs and none owns.

const ARRAYS = { f4: Float32Array, i4: Int32Array, u1: Uint8Array };

/** A packed array as a typed one; its `shape` stays with it. */
function unpack(packed) {
  if (packed === null || packed === undefined) return null;
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const values = new ARRAYS[packed.type](bytes.buffer);
  values.shape = packed.shape;
  return values;
}

/** An element; children are elements or texts. Texts never become markup. */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/** Three digits; powers of ten only for the very small and the very large. */
function short(value) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(2).replace("-", "−");
  const text = size >= 100 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
  return text.replace("-", "−");
}

/** A probability of two digits that never rounds to certainty. */
function chance(value) {
  if (value === null || Number.isNaN(value)) return "–";
  if (value >= 0.995 && value < 1) return ">.99";
  if (value > 0 && value < 0.005) return "<.01";
  return value.toFixed(2);
}

/** A whole number with commas; the browser's own way takes 0.1 s when first asked. */
function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

function count(n, noun) {
  return `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** The plural at the start of a heading. */
function headNoun(noun) {
  return `${noun[0].toUpperCase()}${noun.slice(1)}s`;
}

function probability(logOdds) {
  return 1 / (1 + Math.exp(-logOdds));
}

/** A name that fits: control and bidirectional characters are shown, not obeyed; long ones are cut. */
function tidy(name, most = 60) {
  const plain = String(name).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\u00b7");
  const letters = Array.from(plain);
  return letters.length <= most ? plain : letters.slice(0, most - 1).join("") + "…";
}

/** A cell of a CSV file that no spreadsheet takes for a formula. */
function csvCell(value) {
  let text = String(value);
  if (typeof value !== "number" && /^[\s]*[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n\t']/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/** Offer a text as a file. */
function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function isDark() {
  return getComputedStyle(document.documentElement).getPropertyValue("--is-dark").trim() === "1";
}

/** A colour of the style sheet by its name, as it is now. */
function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Red, green, blue of a share between 0 and 1 on the scale of similarities (both ends and all between differ in lightness). */
function shade(share) {
  const t = Math.max(0, Math.min(1, share));
  return d3.rgb(isDark() ? d3.interpolateCividis(t) : d3.interpolateYlGnBu(t));
}

/** A canvas of a size in CSS pixels, sharp on every screen; gives its context, scaled. */
function sizeCanvas(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** Say something to those who listen instead of looking. */
function say(text) {
  document.getElementById("said").textContent = text;
}

/** Words beside the pointer; null takes them away. */
function showTip(event, lines) {
  const tip = document.getElementById("tip");
  tip.hidden = lines === null;
  if (lines === null) return;
  tip.replaceChildren(...lines.map((line, i) => el(i ? "div" : "strong", { text: line })));
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
  const y = event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
  tip.style.left = `${Math.max(4, x)}px`;
  tip.style.top = `${Math.max(4, y)}px`;
}
