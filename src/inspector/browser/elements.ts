/** An element of the page, which its HTML has. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}`);
  return found as E;
}

/** Makes an element. Whatever is shown of others is set as text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A state as a coloured word. */
export function tag(text: string): HTMLElement {
  const made = element('span', { className: 'tag', textContent: text, title: text });
  made.dataset['tone'] = toneOf(text);
  return made;
}

const bad = /^(open|crashed|error|declined|stopped by error)/;
const warn = /^(half-open|backoff|releasing|terminating|draining|closing|judging|overdue)/;

/** Tells what goes well, what is on its way, what is in trouble. */
export function toneOf(text: string): string {
  if (bad.test(text)) return 'bad';
  if (warn.test(text)) return 'warn';
  return text === '' ? '' : 'good';
}
