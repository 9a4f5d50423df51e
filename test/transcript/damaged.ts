import { fc } from '../support/property.ts';

/** Histories as they should be, and ways to damage them. */

export type Fields = Readonly<Record<string, unknown>>;

/** One step of a model: tools it called at once, each with whether it was answered. */
interface Step {
  readonly calls: number;
  readonly text: boolean;
}

const steps = fc.array(fc.record<Step>({ calls: fc.integer({ min: 0, max: 3 }), text: fc.boolean() }), {
  minLength: 1,
  maxLength: 8,
});

export const anthropicHistory = steps.map((all) => {
  let next = 0;
  const messages: Fields[] = [{ role: 'user', content: 'do it' }];
  for (const { calls, text } of all) {
    const ids = Array.from({ length: calls }, () => `toolu_${next++}`);
    const uses = ids.map((id) => ({ type: 'tool_use', id, name: 'Bash', input: {} }));
    messages.push({
      role: 'assistant',
      content: [{ type: 'text', text: `step ${next}` }, ...uses],
    });
    const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `real ${id}` }));
    const words = text || calls === 0 ? [{ type: 'text', text: 'go on' }] : [];
    messages.push({ role: 'user', content: [...results, ...words] });
  }
  return messages;
});

export const chatHistory = steps.map((all) => {
  let next = 0;
  const messages: Fields[] = [{ role: 'user', content: 'do it' }];
  for (const { calls, text } of all) {
    const ids = Array.from({ length: calls }, () => `call_${next++}`);
    const asked = ids.map((id) => ({ id, type: 'function', function: { name: 'run', arguments: '{}' } }));
    messages.push({ role: 'assistant', content: 'step', ...(calls > 0 && { tool_calls: asked }) });
    messages.push(...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `real ${id}` })));
    if (text) messages.push({ role: 'user', content: 'go on' });
  }
  return messages;
});

export const responsesHistory = steps.map((all) => {
  let next = 0;
  const items: Fields[] = [{ type: 'message', role: 'user', content: 'do it' }];
  for (const { calls, text } of all) {
    const kind = next % 2 === 0 ? 'function_call' : 'custom_tool_call';
    const ids = Array.from({ length: calls }, () => `call_${next++}`);
    items.push({ type: 'reasoning', id: `rs_${next}`, summary: [] });
    items.push(...ids.map((id) => ({ type: kind, call_id: id, name: 'run', arguments: '{}' })));
    items.push(...ids.map((id) => ({ type: `${kind}_output`, call_id: id, output: `real ${id}` })));
    if (text) items.push({ type: 'message', role: 'user', content: 'go on' });
  }
  return items;
});

/** A session's log: blocks in lines of their own, results that hang from the line of their call. */
export const sessionHistory = fc.tuple(steps, fc.array(fc.nat(30), { maxLength: 3 })).map(([all, rewinds]) => {
  let next = 0;
  let parent: string | null = null;
  const entries: Fields[] = [{ type: 'summary', summary: 'a session', leafUuid: 'elsewhere' }];
  const add = (type: string, message: Fields, from: string | null): string => {
    const uuid = `line-${entries.length}`;
    const shared = { cwd: '/work', sessionId: 'session', version: '2.1.0', timestamp: '2026-01-01T00:00:00.000Z' };
    entries.push({ parentUuid: from, isSidechain: false, type, message, uuid, ...shared });
    return uuid;
  };
  parent = add('user', { role: 'user', content: 'do it' }, parent);
  const ends: (string | null)[] = [parent];
  all.forEach(({ calls, text }, index) => {
    const rewind = rewinds[index];
    if (rewind !== undefined)
      parent = add('user', { role: 'user', content: 'again' }, ends[rewind % ends.length] ?? null);
    const block = (content: Fields) =>
      add('assistant', { id: `msg_${index}`, role: 'assistant', content: [content] }, parent);
    if (text || calls === 0) parent = block({ type: 'text', text: 'step' });
    const asked = Array.from({ length: calls }, () => {
      const id = `toolu_${next++}`;
      parent = block({ type: 'tool_use', id, name: 'Bash', input: {} });
      return { id, line: parent };
    });
    for (const { id, line } of asked.toReversed()) {
      const content = [{ type: 'tool_result', tool_use_id: id, content: `real ${id}` }];
      parent = add('user', { role: 'user', content }, line);
    }
    parent = calls > 0 ? parent : add('user', { role: 'user', content: 'go on' }, parent);
    ends.push(parent);
  });
  return entries;
});

/** A change that crashes, lost writes and bad compaction make: something goes, comes twice, or moves. */
type Damage = (list: readonly unknown[]) => unknown[];

const damage = fc
  .record({ kind: fc.constantFrom('drop', 'twice', 'move'), from: fc.nat(40), to: fc.nat(40) })
  .map(({ kind, from, to }): Damage => {
    return (list) => {
      if (list.length === 0) return [];
      const at = from % list.length;
      const moved = list.toSpliced(at, 1);
      if (kind === 'drop') return moved;
      const target = to % (list.length + 1);
      return kind === 'twice' ? list.toSpliced(target, 0, list[at]) : moved.toSpliced(target, 0, list[at]);
    };
  });

/** Damages of whole entries, one after the other. */
export const damages = fc
  .array(damage, { maxLength: 5 })
  .map(
    (all) => (list: readonly Fields[]) => all.reduce<readonly unknown[]>((now, each) => each(now), list) as Fields[],
  );

/** Damages of the content blocks within messages. */
export const blockDamages = fc.array(fc.tuple(fc.nat(40), damage), { maxLength: 4 }).map(
  (all) =>
    (messages: readonly Fields[]): Fields[] =>
      all.reduce<Fields[]>(
        (now, [at, each]) => {
          const index = at % Math.max(1, now.length);
          return now.map((message, position) =>
            position === index && Array.isArray(message['content']) && message['content'].length > 1
              ? { ...message, content: each(message['content']) }
              : message,
          );
        },
        [...messages],
      ),
);
