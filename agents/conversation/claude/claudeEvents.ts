import { blocksIn, isGoingOn, losesSession, recordIn, textIn } from '../../../src/protocol/face.ts';
import { actionOf } from '../agentAction.ts';
import type { SdkMessage } from './agentSdkTypes.ts';
import type { Sink } from '../agentStream.ts';
import { createTextFlow } from '../agentText.ts';

/** Tools that are remembered by name until they end. */
const maxTools = 1000;

/** Tells the messages of one turn of Claude as events. Never throws. */
export function createClaudeEvents(sink: Sink): (message: SdkMessage) => void {
  const text = createTextFlow(sink);
  /** Names of those that run, by their ids; several where they share one. */
  const tools = new Map<string, string[]>();
  let thoughtAloud = false;

  function streamed(event: SdkMessage): void {
    if (event['type'] === 'content_block_start') text.begin();
    if (event['type'] !== 'content_block_delta') return;
    const delta = recordIn(event['delta']);
    if (typeof delta?.['text'] === 'string') text.say(delta['text']);
    if (typeof delta?.['thinking'] === 'string' && delta['thinking'] !== '') {
      thoughtAloud = true;
      sink({ type: 'reasoning', text: delta['thinking'] });
    }
  }

  function assistant(message: SdkMessage): void {
    // The failure tells the text that a failed request left as an answer.
    const isAnswer =
      message['is_api_error_message'] !== true && recordIn(message['message'])?.['model'] !== '<synthetic>';
    const isOwn = typeof message['parent_tool_use_id'] !== 'string';
    for (const block of blocksIn(message)) {
      const thought = textIn(block['thinking']);
      if (block['type'] === 'text' && isAnswer && isOwn) text.complete(textIn(block['text']) ?? '');
      if (thought !== undefined && isOwn && !thoughtAloud) sink({ type: 'reasoning', text: thought });
      if (block['type'] === 'thinking') thoughtAloud = false;
      if (block['type'] === 'tool_use') toolStarted(block);
    }
  }

  function toolStarted(block: SdkMessage): void {
    const id = textIn(block['id']) ?? '';
    const tool = textIn(block['name']) ?? 'a tool';
    const sharing = tools.get(id);
    if (sharing !== undefined && sharing.length < maxTools) sharing.push(tool);
    else if (tools.size < maxTools) tools.set(id, [tool]);
    sink({ type: 'tool.started', id, tool, action: actionOf(block['input']) });
  }

  function user(message: SdkMessage): void {
    if (isGoingOn(message) && typeof message['parent_tool_use_id'] !== 'string') text.goOn();
    for (const block of blocksIn(message)) {
      const id = textIn(block['tool_use_id']);
      if (block['type'] !== 'tool_result' || id === undefined) continue;
      const sharing = tools.get(id);
      sink({ type: 'tool.ended', id, tool: sharing?.shift() ?? 'a tool', ok: block['is_error'] !== true });
      if (sharing?.length === 0) tools.delete(id);
    }
  }

  function system(message: SdkMessage): void {
    if (message['subtype'] === 'api_retry') {
      const { attempt, retry_delay_ms: delayMs, error, error_status: status } = message;
      const why = textIn(error)?.replaceAll('_', ' ') ?? 'a failed request';
      sink({
        type: 'retrying',
        by: 'agent',
        attempt: typeof attempt === 'number' ? attempt : undefined,
        delayMs: typeof delayMs === 'number' ? delayMs : undefined,
        message: typeof status === 'number' ? `${why} (HTTP ${status})` : why,
      });
    }
    if (message['subtype'] === 'permission_denied') {
      const tool = textIn(message['tool_name']) ?? 'a tool';
      const id = textIn(message['tool_use_id']) ?? '';
      const reason = textIn(message['message']);
      sink({ type: 'approval.resolved', id, tool, decision: 'decline', reason });
    }
    if (losesSession(message)) {
      sink({
        type: 'notice',
        message: 'The disk is full: the session could not be kept whole, and may not be resumed as it was',
      });
    }
    if (message['subtype'] === 'compact_boundary') {
      sink({ type: 'notice', message: 'The conversation was compacted to fit' });
    }
  }

  return (message) => {
    switch (message['type']) {
      case 'stream_event':
        if (typeof message['parent_tool_use_id'] !== 'string') streamed(recordIn(message['event']) ?? {});
        break;
      case 'assistant':
        assistant(message);
        break;
      case 'user':
        user(message);
        break;
      case 'system':
        system(message);
        break;
    }
  };
}
