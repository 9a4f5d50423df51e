/** The actors as a tree of buttons. */
export const treeScript = String.raw`
function drawTree() {
  const below = new Map();
  for (const actor of actors.values()) {
    const parent = actors.has(actor.parentId) ? actor.parentId : '';
    below.set(parent, [...(below.get(parent) ?? []), actor]);
  }
  const fill = (list, parent) => {
    const items = (below.get(parent) ?? []).map((actor) => treeItem(actor));
    items.forEach((item, at) => {
      if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null);
    });
    while (list.children.length > items.length) list.lastChild.remove();
    for (const item of items) fill(item.querySelector('ul'), item.dataset.actor);
  };
  fill(byId('tree'), '');
  for (const [id, item] of treeItems) if (!actors.has(id)) { item.remove(); treeItems.delete(id); }
  byId('count').textContent = String([...actors.values()].filter((actor) => !actor.over).length);
}

function treeItem(actor) {
  let item = treeItems.get(actor.sessionId);
  if (item === undefined) {
    const [, kind, name] = /^([a-z]+):(.+)$/s.exec(actor.name) ?? [, '', actor.name];
    const label = element('b', { title: actor.name }, ...(kind ? [element('small', { textContent: kind })] : []), name);
    const button = element('button', { type: 'button', onclick: () => choose(actor.sessionId, true) }, label, tag(''));
    item = element('li', {}, button, element('ul'));
    item.dataset.actor = actor.sessionId;
    treeItems.set(actor.sessionId, item);
  }
  item.classList.toggle('over', actor.over);
  const button = item.firstChild;
  button.setAttribute('aria-current', String(actor.sessionId === selected));
  const text = actor.over && actor.snapshot.status === 'active' ? 'gone' : stateText(actor.snapshot);
  if (button.lastChild.textContent !== text) button.replaceChild(tag(text), button.lastChild);
  button.lastChild.hidden = text === '';
  return item;
}

byId('tree').addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...byId('tree').querySelectorAll('button')];
  buttons[buttons.indexOf(document.activeElement) + step]?.focus();
});

function choose(sessionId, byHand) {
  selected = sessionId;
  chosenByHand ||= byHand;
  applyFilter();
  later();
}
`;
