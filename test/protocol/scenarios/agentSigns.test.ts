import { describe, expect, it } from 'vitest';
import { claudeSign } from '../../../src/protocol/claudeSigns.ts';
import { ProgressMark } from '../../../src/protocol/mcp/methods.ts';
import { createRetryLife } from '../../../src/protocol/agentReport.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const streamed = (event: object) => ({ type: 'stream_event', event });
const delta = (inner: object) => streamed({ type: 'content_block_delta', index: 0, delta: inner });

describe('a message of Claude', () => {
  it.each([
    [streamed({ type: 'message_start' }), 'progress'],
    [streamed({ type: 'content_block_start', content_block: {} }), 'progress'],
    [delta({ type: 'text_delta', text: 'h' }), 'progress'],
    [delta({ type: 'thinking_delta', thinking: 'h' }), 'progress'],
    [delta({ type: 'input_json_delta', partial_json: '{' }), 'progress'],
    [{ type: 'assistant' }, 'progress'],
    [{ type: 'user' }, 'progress'],
    [{ type: 'tool_progress', tool_use_id: 't' }, 'progress'],
    [{ type: 'system', subtype: 'init' }, 'progress'],
    [{ type: 'system', subtype: 'word_of_tomorrow' }, 'progress'],
    [{ type: 'system', subtype: 'api_retry' }, 'retry'],
    [streamed({ type: 'ping' }), 'traffic'],
    [delta({ type: 'text_delta', text: '' }), 'traffic'],
    [delta({ type: 'input_json_delta', partial_json: '' }), 'traffic'],
    [{ type: 'stream_event' }, 'traffic'],
    [{ type: 'keep_alive' }, 'traffic'],
    [{ type: 'system', subtype: 'control_request_progress', status: 'started' }, 'traffic'],
    [{ type: 'system', subtype: 'session_state_changed', state: 'running' }, 'traffic'],
    [{ type: 'system', subtype: 'session_writes_lost', lost: ['transcript'] }, 'traffic'],
    [{ type: 'system', subtype: 'worker_shutting_down', reason: 'host_exit' }, 'traffic'],
  ])('[C-6] %j is %s', (message, sign) => {
    expect(claudeSign(message)).toBe(sign);
  });
});

describe('announced retries', () => {
  it('[C-6] are life for so long after the last progress, and no longer', async () => {
    const clock = new SimulatedClock();
    let touches = 0;
    const heard = createRetryLife(clock, () => touches++, 1000);
    await clock.advance(999);
    heard('retry');
    expect(touches).toBe(1);
    await clock.advance(1);
    heard('retry');
    heard('traffic');
    expect(touches).toBe(1);
    heard('progress');
    await clock.advance(999);
    heard('retry');
    expect(touches).toBe(3);
  });
});

describe('progress of an MCP request', () => {
  it('[G-7] is none when it says the same again', () => {
    const mark = new ProgressMark();
    const said = [
      { progress: 0 },
      { progress: 0 },
      { progress: 1 },
      { progress: 1, message: 'still' },
      { progress: 1, message: 'still' },
    ];
    expect(said.map((each) => mark.moves(each))).toEqual([true, false, true, true, false]);
  });
});
