#!/usr/bin/env node
// An agent of the Agent Client Protocol, small enough to be started again and again: each prompt is answered in five pieces, by its own words.
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let sessions = 0;

async function prompt(id, { sessionId, prompt: blocks }) {
  const text = blocks.map((block) => block.text).join('');
  if (text.includes('eat')) for (const eaten = []; ; ) eaten.push(Array.from({ length: 10_000 }, (_, n) => n));
  for (let piece = 0; piece < 5; piece++) {
    const content = { type: 'text', text: `${piece}: ${text}\n` };
    say({ method: 'session/update', params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } } });
    await wait(40);
  }
  say({ id, result: { stopReason: 'end_turn' } });
}

const methods = {
  initialize: (id) =>
    say({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] } }),
  'session/new': (id) => say({ id, result: { sessionId: `session-${process.pid}-${sessions++}` } }),
  'session/load': (id) => say({ id, result: {} }),
  'session/prompt': prompt,
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  if (methods[method] === undefined) say({ id, error: { code: -32601, message: `no method ${method}` } });
  else void methods[method](id, params);
});
