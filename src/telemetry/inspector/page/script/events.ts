/** The list of events and its filter. */
export const eventsScript = String.raw`
function addEvent({ actor, event, from, at }) {
  const who = plainName(actor) + (from ? ' from ' + plainName(from) : '');
  const change = element('span', { className: 'change' });
  const summary = element('summary', {},
    element('time', { textContent: timeText(at) }), element('span', { className: 'what', textContent: event.type, title: event.type }),
    element('span', { className: 'who', textContent: who, title: actor.name }), change);
  const details = element('details', {}, summary);
  details.addEventListener('toggle', () => {
    if (details.children.length === 1) details.append(element('pre', { textContent: JSON.stringify(event, null, 2) }));
  });
  const item = element('li', {}, details);
  const entry = { item, actor: actor.sessionId, text: (actor.name + ' ' + event.type).toLowerCase() };
  append(entry);
  return {
    type: event.type,
    became(before, after) {
      change.textContent = before + ' → ' + after;
      entry.text += (' ' + before + ' → ' + after).toLowerCase();
      sift(entry);
    },
  };
}

function note(text) {
  append({ item: element('li', { className: 'gap', textContent: text }), text: '' });
}

const entries = [];
function append(entry) {
  entries.push(entry);
  sift(entry);
  byId('events').prepend(entry.item);
  if (entries.length > maxEvents) entries.shift().item.remove();
}

function sift(entry) {
  const words = byId('filter').value.trim().toLowerCase();
  entry.item.hidden = entry.actor !== undefined &&
    (!entry.text.includes(words) || (byId('only').checked && entry.actor !== selected));
}

const applyFilter = () => entries.forEach(sift);
byId('filter').addEventListener('input', applyFilter);
byId('only').addEventListener('change', applyFilter);
`;
