import { describe, expect, it } from 'vitest';
import { failureOfPrompt } from '../../../src/protocol/acp/end.ts';
import { AcpTurn } from '../../../src/protocol/acp/turn.ts';
import { readMessage } from '../../../src/protocol/mcp/message.ts';

const said = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const tool = (toolCallId: string, status: string) => ({
  sessionUpdate: 'tool_call',
  toolCallId,
  title: toolCallId,
  status,
});
const status = (type: string) => ({
  sessionUpdate: 'session_info_update',
  _meta: { codex: { threadStatus: { type } } },
});

function judged(updates: readonly object[], answer: object = { result: { stopReason: 'end_turn' } }) {
  const turn = new AcpTurn();
  for (const update of updates) turn.heard(update as Record<string, unknown>, 0);
  const message = readMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }));
  if (message.kind !== 'answer') throw new Error(message.kind);
  return failureOfPrompt(message, { turn, wallNow: 0 });
}

const again = 'Info: Request failed due to a transient API error. Retrying...';
const resend = 'Please resend your message to try again.';

describe('the end of a turn', () => {
  it.for([
    [
      'goose 1.52, overloaded',
      [
        said(
          'Ran into this error: Server error: 529 Overloaded.\n\nPlease retry if you think this is a transient or recoverable error.',
        ),
      ],
      'overloaded',
    ],
    [
      'goose 1.52, cut in the text',
      [said('The first half'), said(`Network error: Stream decode error: error decoding response body\n\n${resend}`)],
      'transient',
    ],
    [
      'codex-acp 2.6, refused',
      [
        said('Warning: Model metadata for `m` not found. Defaulting to fallback metadata.\n\n'),
        status('systemError'),
        said('{"error":{"type":"invalid_request_error","message":"invalid_request_error"}}\n\n'),
      ],
      'permanent',
    ],
    [
      'Copilot 1.0.102, wrong key',
      [
        said(again),
        said(again),
        said(
          'Error: Authentication failed with provider at http://127.0.0.1:1 (HTTP 401).\n  Check your COPILOT_PROVIDER_API_KEY',
        ),
      ],
      'auth',
    ],
    [
      'Copilot 1.0.102, overloaded',
      [
        said(again),
        said(
          'Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 15.10 seconds) Last error: 529 overloaded_error',
        ),
      ],
      'overloaded',
    ],
    [
      'Copilot 1.0.102, cut in the text',
      [
        said('half'),
        said('Info: Response was interrupted due to a server error. Retrying...'),
        said('half'),
        said(
          'Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 9.2 seconds) Last error: terminated',
        ),
      ],
      'unknown',
    ],
    ['an agent that nobody knows', [said('API Error: 429 Too Many Requests')], 'rate_limit'],
  ] as const)('[A-2] [A-3] is a failure where it is told as text and `end_turn`: %s', ([, updates, kind]) => {
    expect(judged(updates)).toMatchObject({ kind, shouldRetry: false });
  });

  it.for([
    ['an answer', [said('Error handling is done by classes.')]],
    ['an error text that somebody asked for', [said('Error: the sum is not 4')]],
    ['one beside a tool', [tool('read', 'completed'), said('Error: 529 overloaded')]],
    ['one that quotes a failure', [said('The log says: '), said('Error: 529 overloaded')]],
    ['nothing', []],
    ['one that went on after its status was bad', [status('systemError'), status('active'), said('done')]],
    [
      'a text like the last words of goose in the middle',
      [said(`Network error: x\n\n${resend}`), tool('a', 'completed'), said('fine')],
    ],
  ] as const)('[A-3] is one: %s', ([, updates]) => {
    expect(judged(updates)).toBeUndefined();
  });

  it.for([
    [{ code: -32_000, message: 'Authentication required' }, 'auth'],
    [{ code: 429, message: 'Quota of the day' }, 'rate_limit'],
    [{ code: 503, message: 'Unavailable' }, 'transient'],
    [{ code: -32_603, message: 'Internal error', data: { details: '529 {"type":"overloaded_error"}' } }, 'overloaded'],
    [{ code: -32_603, message: 'Internal error: API Error', data: { errorKind: 'rate_limit' } }, 'rate_limit'],
    [{ code: -32_602, message: 'Invalid params' }, 'permanent'],
  ] as const)('[A-2] has the kind of its error: %j', ([error, kind]) => {
    expect(judged([], { error })).toMatchObject({ kind, outcome: 'failed', shouldRetry: false });
  });

  it('[A-3] leaves the effects open of a turn that had told of tools', () => {
    expect(judged([tool('pay', 'completed')], { error: { code: 500, message: 'broken' } })).toMatchObject({
      outcome: 'unknown',
    });
    expect(judged([], { result: 'nonsense' })).toMatchObject({ kind: 'protocol' });
  });
});
