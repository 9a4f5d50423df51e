/** How states and times are written, and elements made. */
export const wordsScript = String.raw`
function stateText({ value, status } = {}) {
  if (value === undefined) return status === 'active' || status === undefined ? '' : status;
  if (typeof value === 'string') return value;
  return Object.entries(value).map(([key, inner]) => {
    const text = stateText({ value: inner });
    return text === '' ? key : key + '.' + (text.includes(', ') ? '(' + text + ')' : text);
  }).join(', ');
}

function statesIn(value, above = '') {
  if (value === undefined) return [];
  if (typeof value === 'string') return [above + value];
  return Object.entries(value).flatMap(([key, inner]) => [above + key, ...statesIn(inner, above + key + '.')]);
}

const bad = /^(open|crashed|error|declined|stopped by error)/;
const warn = /^(half-open|backoff|releasing|terminating|draining|closing|judging|overdue)/;
const toneOf = (text) => (bad.test(text) ? 'bad' : warn.test(text) ? 'warn' : text === '' ? '' : 'good');

const pad = (number, length = 2) => String(number).padStart(length, '0');
function timeText(ms) {
  const time = new Date(ms);
  return pad(time.getHours()) + ':' + pad(time.getMinutes()) + ':' + pad(time.getSeconds()) + '.' + pad(time.getMilliseconds(), 3);
}

const plainName = ({ name }) => name.replace(/^[a-z]+:/, '');

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function tag(text) {
  const made = element('span', { className: 'tag', textContent: text, title: text });
  made.dataset.tone = toneOf(text);
  return made;
}
`;
