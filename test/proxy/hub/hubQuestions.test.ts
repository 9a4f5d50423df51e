import { describe, expect, it } from 'vitest';
import type { HubMember } from '../../../proxy/hub/hubMember.ts';
import { HubQuestions } from '../../../proxy/hub/hubQuestions.ts';
import type { McpRequest } from '../../../src/protocol/mcp/message.ts';

const one = { name: 'one' } as unknown as HubMember;
const other = { name: 'other' } as unknown as HubMember;
const request = (id: string): McpRequest => ({ kind: 'request', id, key: `s${id}`, method: 'any', params: {} });
const listening = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'l' } };

describe('the questions of several servers', () => {
  it('[P-8] are forgotten, the oldest first, when 1,000 are open', () => {
    const questions = new HubQuestions();
    for (let at = 0; at <= 1000; at++) questions.asked(one, request(String(at)), `hub-${at}`);
    expect(questions.answered('shub-0')).toBeUndefined();
    expect(questions.answered('shub-1')).toMatchObject({ member: one, id: '1' });
    expect(questions.answered('shub-1')).toBeUndefined();
  });

  it('[P-8] are withdrawn by the one that asked alone', () => {
    const questions = new HubQuestions();
    questions.asked(one, request('q'), 'hub-1');
    expect(questions.withdrawn(other, { requestId: 'q' })).toBeUndefined();
    expect(questions.withdrawn(one, { requestId: 'q' })).toBe('hub-1');
  });
});

describe('what a client listens to', () => {
  it('[P-8] stands when one server says so, once, and is over when the last has ended it', () => {
    const questions = new HubQuestions();
    questions.listens(request('l'), '{}', [one, other]);
    expect([questions.isFirstAcknowledged(listening), questions.isFirstAcknowledged(listening)]).toEqual([true, false]);
    expect(questions.isLastToListen(one, 'sl')).toBe(false);
    expect(questions.isLastToListen(one, 'sl')).toBe(false);
    expect(questions.isLastToListen(other, 'sl')).toBe(true);
    expect([...questions.listening]).toEqual([]);
  });
});
