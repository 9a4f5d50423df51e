import { byId, element, tag } from './elements.ts';
import { type Actor, actors, view } from './view.ts';
import { stateText } from './words.ts';

interface Row {
  readonly item: HTMLLIElement;
  readonly button: HTMLButtonElement;
  readonly below: HTMLUListElement;
  tag: HTMLElement;
}

/** The actors as a tree of buttons. */
export class Tree {
  readonly #choose: (sessionId: string) => void;
  readonly #rows = new Map<string, Row>();

  constructor(choose: (sessionId: string) => void) {
    this.#choose = choose;
    byId('tree').addEventListener('keydown', (event) => this.#step(event));
  }

  draw(): void {
    const below = new Map<string, Actor[]>();
    for (const actor of actors.values()) {
      const parent = actor.parentId !== undefined && actors.has(actor.parentId) ? actor.parentId : '';
      below.set(parent, [...(below.get(parent) ?? []), actor]);
    }
    this.#fill(byId('tree'), '', below);
    for (const [id, { item }] of this.#rows) {
      if (actors.has(id)) continue;
      item.remove();
      this.#rows.delete(id);
    }
    byId('count').textContent = String([...actors.values()].filter((actor) => !actor.over).length);
  }

  #fill(list: HTMLElement, parent: string, below: ReadonlyMap<string, readonly Actor[]>): void {
    const children = below.get(parent) ?? [];
    const rows = children.map((actor) => this.#row(actor));
    for (const [at, { item }] of rows.entries()) {
      if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null);
    }
    while (list.children.length > rows.length) list.lastChild?.remove();
    for (const [at, row] of rows.entries()) this.#fill(row.below, children[at]?.sessionId ?? '', below);
  }

  #row(actor: Actor): Row {
    const row = this.#rows.get(actor.sessionId) ?? this.#make(actor);
    row.item.classList.toggle('over', actor.over);
    row.button.setAttribute('aria-current', String(actor.sessionId === view.selected));
    const text = actor.over && actor.snapshot.status === 'active' ? 'gone' : stateText(actor.snapshot);
    if (row.tag.textContent !== text) {
      const fresh = tag(text);
      row.tag.replaceWith(fresh);
      row.tag = fresh;
    }
    row.tag.hidden = text === '';
    return row;
  }

  #make({ sessionId, name }: Actor): Row {
    const [, kind = '', plain = name] = /^([a-z]+):(.+)$/s.exec(name) ?? [];
    const shownKind = kind === '' ? [] : [element('small', { textContent: kind })];
    const state = tag('');
    const label = element('b', { title: name }, ...shownKind, plain);
    const button = element('button', { type: 'button', onclick: () => this.#choose(sessionId) }, label, state);
    const below = element('ul');
    const item = element('li', {}, button, below);
    item.dataset['actor'] = sessionId;
    const row: Row = { item, button, below, tag: state };
    this.#rows.set(sessionId, row);
    return row;
  }

  #step(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined;
    if (step === undefined) return;
    event.preventDefault();
    const buttons = [...byId('tree').querySelectorAll('button')];
    buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]?.focus();
  }
}
