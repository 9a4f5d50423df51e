import { type CodexItem, isSpoken } from '../../protocol/codex/items.ts';
import { recordIn, textIn } from '../../protocol/agentReport.ts';
import { actionOf } from '../agentAction.ts';
import type { Sink } from '../agentStream.ts';
import { createTextFlow } from '../agentText.ts';
import type { CodexTurnEvent } from '../../codex/codexTypes.ts';

/** Tells the events of one turn of Codex as those of the common interface. Never throws. */
export function createCodexEvents(sink: Sink): (event: CodexTurnEvent) => void {
  const text = createTextFlow(sink);
  let speaking: string | undefined;
  let retries = 0;

  const beginItem = (item: string): void => {
    if (speaking === item) return;
    speaking = item;
    text.begin();
  };

  function completed(item: CodexItem): void {
    if (item.type === 'agentMessage') {
      beginItem(item.id);
      text.complete(item.text ?? '');
      speaking = undefined;
    } else if (isTool(item)) {
      const ok = item.status !== 'failed' && item.status !== 'declined';
      sink({ type: 'tool.ended', id: item.id, tool: toolOf(item), ok });
    }
  }

  return (event) => {
    switch (event.type) {
      case 'text.delta':
        beginItem(event.item);
        text.say(event.text);
        break;
      case 'reasoning.delta':
        if (event.text !== '') sink({ type: 'reasoning', text: event.text });
        break;
      case 'item.started':
        if (isTool(event.item)) {
          const { id, raw } = event.item;
          sink({ type: 'tool.started', id, tool: toolOf(event.item), action: actionOf(inputOf(raw)) });
        }
        break;
      case 'item.completed':
        completed(event.item);
        break;
      case 'retrying':
        sink({ type: 'retrying', by: 'agent', attempt: ++retries, delayMs: undefined, message: event.message });
        break;
      case 'approval.requested':
        sink({ type: 'approval.requested', id: event.approval, tool: event.kind, action: event.action });
        break;
      case 'approval.resolved': {
        const { approval: id, kind: tool, decision, reason } = event;
        sink({ type: 'approval.resolved', id, tool, decision, reason });
        break;
      }
      // The output of a command, tokens so far, and unknown events: an agent does not tell them, the client of Codex does.
      case 'turn.started':
      case 'output.delta':
      case 'tokens':
      case 'notice':
        break;
    }
  };
}

const isTool = (item: CodexItem): boolean => !isSpoken(item) && item.type !== 'userMessage';

function toolOf({ type, raw }: CodexItem): string {
  const [server, tool] = [textIn(raw['server']), textIn(raw['tool'])];
  if (type === 'mcpToolCall' && tool !== undefined) return server === undefined ? tool : `${server}.${tool}`;
  return type === 'commandExecution' ? 'command' : type;
}

/** The fields that say what is done; changes of files by their paths. */
function inputOf(raw: Readonly<Record<string, unknown>>): unknown {
  const { changes } = raw;
  if (Array.isArray(changes)) {
    return changes
      .map((change) => textIn(recordIn(change)?.['path']))
      .filter((path) => path !== undefined)
      .join(' ');
  }
  if (recordIn(raw['arguments']) !== undefined) return raw['arguments'];
  const { id: _, type: __, status: ___, ...rest } = raw;
  return rest;
}
