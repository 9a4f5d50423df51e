/** What the services accept, written from their documentation and knowing nothing of the repair. Each throws what is wrong. */

type Fields = Readonly<Record<string, unknown>>;

const blocksIn = (message: Fields): readonly Fields[] =>
  Array.isArray(message['content']) ? (message['content'] as Fields[]) : [];

/** Anthropic's messages: the next message answers all calls first, and only those. */
export function acceptAnthropic(messages: readonly Fields[]): void {
  messages.forEach((message, at) => {
    const results = blocksIn(message).filter(({ type }) => type === 'tool_result');
    const before = messages[at - 1];
    const asked =
      before?.['role'] === 'assistant'
        ? blocksIn(before)
            .filter(({ type }) => type === 'tool_use')
            .map(({ id }) => id)
        : [];
    if (Array.isArray(message['content']) && message['content'].length === 0) throw new Error(`${at}: empty content`);
    if (new Set(asked).size < asked.length) throw new Error(`${at}: tool_use ids must be unique`);
    if (results.length > 0 && message['role'] !== 'user') throw new Error(`${at}: results outside a user's message`);
    const given = results.map(({ tool_use_id: id }) => id);
    if (inOrder(given) !== inOrder(asked)) throw new Error(`${at}: asked ${asked.join()}, got ${given.join()}`);
    const leading = blocksIn(message).slice(0, results.length);
    if (leading.some(({ type }) => type !== 'tool_result')) throw new Error(`${at}: results do not come first`);
  });
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant' && blocksIn(last).some(({ type }) => type === 'tool_use')) {
    throw new Error('the last calls have no results');
  }
}

const inOrder = (ids: readonly unknown[]): string => ids.map(String).sort().join();

/** Whether no two messages of one role follow each other. */
export function alternates(messages: readonly Fields[]): boolean {
  return messages.every(({ role }, at) => at === 0 || role !== messages[at - 1]?.['role']);
}

/** OpenAI's chat: tool messages follow the message that asked, one for each call. */
export function acceptOpenAiChat(messages: readonly Fields[]): void {
  let open = new Set<unknown>();
  messages.forEach((message, at) => {
    if (message['role'] === 'tool') {
      if (!open.delete(message['tool_call_id'])) throw new Error(`${at}: no call ${String(message['tool_call_id'])}`);
      return;
    }
    if (open.size > 0) throw new Error(`${at}: no result of ${[...open].join()}`);
    const calls = (message['tool_calls'] ?? []) as readonly Fields[];
    open = new Set(calls.map(({ id }) => id));
    if (open.size < calls.length) throw new Error(`${at}: repeated call id`);
  });
  if (open.size > 0) throw new Error(`no result of ${[...open].join()}`);
}

/** OpenAI's responses: each call has one output behind it, before the next word of somebody else. */
export function acceptOpenAiResponses(items: readonly Fields[]): void {
  const open = new Set<string>();
  items.forEach((item, at) => {
    const type = String(item['type']);
    const key = `${type.replace(/_output$/, '')} ${String(item['call_id'])}`;
    if (type.endsWith('_call')) {
      if (open.has(key)) throw new Error(`${at}: repeated ${key}`);
      open.add(key);
    } else if (type.endsWith('_output')) {
      if (!open.delete(key)) throw new Error(`${at}: no ${key}`);
    } else if (item['role'] !== undefined && item['role'] !== 'assistant' && open.size > 0) {
      throw new Error(`${at}: no output of ${[...open].join()}`);
    }
  });
  if (open.size > 0) throw new Error(`no output of ${[...open].join()}`);
}

/**
 * A session's log as Claude Code reads it: from each end of a chain up to its root, blocks of one answer as one message, with the
 * results that hang from any of its blocks; then what Anthropic accepts, where messages of one role count as one.
 */
export function acceptSession(entries: readonly Fields[]): void {
  const byUuid = new Map<unknown, Fields>();
  for (const entry of entries) if (entry['uuid'] !== undefined) byUuid.set(entry['uuid'], entry);
  const nodes = [...byUuid.values()];
  const childrenOf = new Map<unknown, Fields[]>();
  for (const node of nodes) {
    childrenOf.set(node['parentUuid'], [...(childrenOf.get(node['parentUuid']) ?? []), node]);
  }
  for (const leaf of nodes) if (!childrenOf.has(leaf['uuid'])) acceptAnthropic(messagesUpTo(leaf));

  function messagesUpTo(leaf: Fields): Fields[] {
    const chain: Fields[] = [];
    for (let at: Fields | undefined = leaf; at !== undefined; at = byUuid.get(at['parentUuid'])) {
      if (chain.push(at) > nodes.length) throw new Error('a ring');
    }
    chain.reverse();
    const used = new Set<Fields>();
    const messages: { role: unknown; content: Fields[] }[] = [];
    const add = (role: string, content: readonly Fields[]) => {
      const last = messages.at(-1);
      if (last?.role === role) last.content.push(...content);
      else messages.push({ role, content: [...content] });
    };
    for (const entry of chain) {
      if (used.has(entry)) continue;
      const message = entry['message'] as Fields | undefined;
      if (message === undefined) continue;
      if (entry['type'] !== 'assistant') {
        used.add(entry);
        const content = message['content'];
        add('user', typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Fields[]));
        continue;
      }
      const blocks = blocksOfAnswer(entry);
      for (const each of blocks) used.add(each);
      add(
        'assistant',
        blocks.flatMap((each) => (each['message'] as Fields)['content'] as Fields[]),
      );
      const asides = blocks.flatMap((each) => childrenOf.get(each['uuid']) ?? []).filter((each) => isResult(each));
      for (const each of asides) {
        if (used.has(each)) continue;
        used.add(each);
        add('user', (each['message'] as Fields)['content'] as Fields[]);
      }
    }
    // Results are brought to the front of the message, as they are when it is sent.
    return messages.map(({ role, content }) => ({
      role,
      content: content.toSorted((a, b) => Number(b['type'] === 'tool_result') - Number(a['type'] === 'tool_result')),
    }));
  }

  function blocksOfAnswer(first: Fields): Fields[] {
    const id = (first['message'] as Fields)['id'];
    const found = [first];
    for (const each of found) {
      const more = childrenOf.get(each['uuid']) ?? [];
      found.push(...more.filter((child) => child['type'] === 'assistant' && (child['message'] as Fields)['id'] === id));
    }
    return found;
  }
}

function isResult(entry: Fields): boolean {
  return blocksIn((entry['message'] ?? {}) as Fields).some(({ type }) => type === 'tool_result');
}

/** Parents that a log names and does not have: where its chains are cut. */
export function lostParents(entries: readonly Fields[]): unknown[] {
  const uuids = new Set(entries.map(({ uuid }) => uuid));
  return entries
    .map(({ parentUuid }) => parentUuid)
    .filter((parent) => typeof parent === 'string' && !uuids.has(parent));
}
