import { serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { repairTranscript } from '../../transcript/index.ts';
import { interruptedBy } from '../../transcript/interrupted.ts';
import { emptyScan, scanEntry } from '../../transcript/sessionScan.ts';

const shared = {
  isSidechain: false,
  cwd: '/work',
  sessionId: 's',
  version: '2.1.0',
  gitBranch: 'main',
  userType: 'external',
};
const line = (uuid: string, parentUuid: string | null, type: string, message: object, more: object = {}) => ({
  parentUuid,
  type,
  message,
  uuid,
  timestamp: '2026-01-01T00:00:00.000Z',
  ...shared,
  ...more,
});
const says = (uuid: string, parent: string | null, more: object = {}) =>
  line(uuid, parent, 'user', { role: 'user', content: 'hi' }, more);
const block = (uuid: string, parent: string, id: string, content: object) =>
  line(uuid, parent, 'assistant', { id, role: 'assistant', content: [content] });
const calls = (uuid: string, parent: string, id: string, call: string) =>
  block(uuid, parent, id, { type: 'tool_use', id: call, name: 'Bash', input: {} });
const answers = (uuid: string, parent: string, call: string, said = `real ${call}`) =>
  line(uuid, parent, 'user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: said }] });

/** How the lines hang together after a repair: the uuid of each and that of its parent. */
function chains(...entries: object[]) {
  const { history, ...report } = repairTranscript(entries as Record<string, unknown>[]);
  return { history, ...report, chain: history.map(({ uuid, parentUuid }) => [uuid, parentUuid]) };
}

describe("the repair of a session's log", () => {
  it('[G-12] answers a trailing call by a line that hangs from it and looks like one of the session', () => {
    const { history, findings } = chains(says('u', null), calls('a', 'u', 'm1', 'toolu_1'));
    expect(history[2]).toMatchObject({
      ...shared,
      parentUuid: 'a',
      type: 'user',
      uuid: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/) as string,
      timestamp: '2026-01-01T00:00:00.000Z',
      sourceToolAssistantUUID: 'a',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true }] },
    });
    expect(findings).toEqual([{ rule: 'unanswered', at: 2, callId: 'toolu_1', tool: 'Bash' }]);
  });

  it('[G-12] gives the inserted line the same uuid each time, and others to others', () => {
    const uuid = (call: string) => chains(says('u', null), calls('a', 'u', 'm1', call)).history[2]?.['uuid'];
    expect(uuid('toolu_1')).toBe(uuid('toolu_1'));
    expect(uuid('toolu_1')).not.toBe(uuid('toolu_2'));
  });

  it('[G-12] hangs what went on without a result from the inserted line', () => {
    const { chain } = chains(says('u', null), calls('a', 'u', 'm1', 't1'), says('u2', 'a'));
    const inserted = chain[2]?.[0];
    expect(chain).toEqual([
      ['u', null],
      ['a', 'u'],
      [inserted, 'a'],
      ['u2', inserted],
    ]);
  });

  it('[G-12] leaves parallel calls alone, whose results hang from the line of each call', () => {
    const entries = [
      says('u', null),
      calls('a1', 'u', 'm1', 't1'),
      calls('a2', 'a1', 'm1', 't2'),
      answers('r2', 'a2', 't2'),
      answers('r1', 'a1', 't1'),
      block('a3', 'r1', 'm2', { type: 'text', text: 'done' }),
    ];
    expect(chains(...entries).repairs).toBe(0);
    const { findings } = chains(...entries.filter(({ uuid }) => uuid !== 'r2'));
    expect(findings).toMatchObject([{ rule: 'unanswered', at: 3, callId: 't2' }]);
  });

  it('[G-12] answers parallel calls each at its own line, and leaves the blocks of the answer together', () => {
    const { chain } = chains(
      says('u', null),
      calls('a1', 'u', 'm1', 't1'),
      calls('a2', 'a1', 'm1', 't2'),
      says('u2', 'a2'),
    );
    const [first, second] = [chain[3]?.[0], chain[4]?.[0]];
    expect(chain).toEqual([
      ['u', null],
      ['a1', 'u'],
      ['a2', 'a1'],
      [first, 'a1'],
      [second, 'a2'],
      ['u2', second],
    ]);
  });

  it('[G-12] moves a result behind its call when an answer came between, and keeps its line', () => {
    const text = block('b', 'a', 'm2', { type: 'text', text: 'x' });
    const { chain, counts } = chains(
      says('u', null),
      calls('a', 'u', 'm1', 't1'),
      text,
      answers('r', 'b', 't1'),
      says('u2', 'r'),
    );
    expect(chain).toEqual([
      ['u', null],
      ['a', 'u'],
      ['r', 'a'],
      ['b', 'r'],
      ['u2', 'b'],
    ]);
    expect(counts).toMatchObject({ displaced: 1, unanswered: 0 });
  });

  it('[G-12] drops orphans and second results, and keeps the chain whole', () => {
    const { chain, counts } = chains(
      says('u', null),
      answers('o', 'u', 'gone'),
      calls('a', 'o', 'm1', 't1'),
      answers('r', 'a', 't1'),
      answers('d', 'r', 't1', 'other'),
      says('u2', 'd'),
    );
    expect(chain).toEqual([
      ['u', null],
      ['a', 'u'],
      ['r', 'a'],
      ['u2', 'r'],
    ]);
    expect(counts).toMatchObject({ orphan: 1, duplicate: 1 });
  });

  it('[G-12] lets a real result win over a synthetic one', () => {
    const once = chains(says('u', null), calls('a', 'u', 'm1', 't1')).history;
    const { history } = chains(...once, answers('r', 'a', 't1'));
    expect(history.map(({ uuid }) => uuid)).toEqual(['u', 'a', 'r']);
  });

  it('[G-12] repairs every branch and sidechain for itself', () => {
    const side = { isSidechain: true, agentId: 'x' };
    const entries = [
      says('u', null),
      calls('a', 'u', 'm1', 't1'),
      answers('r', 'a', 't1'),
      says('again', 'u'),
      calls('b', 'again', 'm2', 't1'),
      says('s', null, side),
      { ...calls('sa', 's', 'm3', 't3'), ...side },
    ];
    const { history, counts } = chains(...entries);
    expect(counts).toMatchObject({ unanswered: 2, displaced: 0, duplicate: 0 });
    expect(history.at(-1)).toMatchObject({ ...side, parentUuid: 'sa' });
    expect(history[5]).toMatchObject({ parentUuid: 'b', isSidechain: false });
  });

  it.each([
    [
      'a dropped line hung from a line that was lost',
      [says('1', null), answers('3', '2', 'gone'), 'torn', says('4', '3'), 'torn'],
    ],
    ['all that could be a parent hangs from the line itself', ['torn', says('3', '2'), 'torn', says('2', '1')]],
    [
      'a line comes twice',
      ['torn', answers('u3', 'x', 'gone'), says('2', null), 'torn', answers('u3', 'x', 'gone'), 'torn', says('2', '1')],
    ],
    ['an id is a number without an end', [calls('2', '1', 'm', 'c'), 'torn']],
  ])('[G-12] [Q-4] mends a log with torn lines once: %s', (_, lines) => {
    const text = lines
      .map((each) => (typeof each === 'string' ? '}' : JSON.stringify(each).replace('"id":"c"', '"id":1e400')))
      .join('\n');
    const { history } = repairTranscript(`${text}\n`, { format: 'claude-code' });
    expect(repairTranscript(history, { format: 'claude-code' })).toMatchObject({ repairs: 0, history });
  });

  it('[G-12] of a text keeps lines without a change byte for byte, broken ones, too', () => {
    const odd = '{"type":"user",  "uuid":"u", "parentUuid":null, "sessionId":"s", "cost":1.0}';
    const text = `${odd}\n{"broken\n\n${JSON.stringify(calls('a', 'u', 'm1', 't1'))}\n`;
    const { history, counts, repairs } = repairTranscript(text);
    expect(history.startsWith(text)).toBe(true);
    expect(history.slice(text.length).split('\n')).toHaveLength(2);
    expect({ ...counts, repairs }).toMatchObject({ broken_line: 1, unanswered: 1, repairs: 1 });
  });

  it('[G-12] ends a last line that was cut off, so that the next one appended is whole', () => {
    const text = `${JSON.stringify(says('u', null))}\n{"type":"assi`;
    expect(repairTranscript(text)).toMatchObject({ history: `${text}\n`, counts: { torn_end: 1 } });
    expect(repairTranscript(text.slice(0, -13)).repairs).toBe(0);
  });

  it('[G-12] hangs a line whose parent was in a broken line from the last one before', () => {
    const text = [JSON.stringify(says('u', null)), '{"torn', JSON.stringify(says('u2', 'lost')), ''].join('\n');
    const { history, counts } = repairTranscript(text);
    expect(counts).toMatchObject({ disconnected: 1, broken_line: 1 });
    expect(JSON.parse(history.split('\n')[2] ?? '')).toMatchObject({ uuid: 'u2', parentUuid: 'u' });
    expect(repairTranscript(text.replace('{"torn', '{}')).repairs).toBe(0);
  });

  it('[G-12] lets references to a dropped line follow to the one above it', () => {
    const leaf = { type: 'summary', summary: 'x', leafUuid: 'o' };
    const { history } = chains(says('u', null), answers('o', 'u', 'gone'), leaf);
    expect(history.at(-1)).toEqual({ ...leaf, leafUuid: 'u' });
  });

  it('[G-12] keeps of each line ids and places, never its content', () => {
    const scan = emptyScan();
    const big = 'x'.repeat(100_000);
    const count = 200;
    for (let index = 0; index < count; index += 2) {
      scanEntry(scan, calls(`a${index}`, `r${index - 1}`, `m${index}`, `t${index}`), interruptedBy(undefined));
      scanEntry(scan, answers(`r${index + 1}`, `a${index}`, `t${index}`, big), interruptedBy(undefined));
    }
    expect(scan.lines).toBe(count);
    expect(serialize(scan).length / count).toBeLessThan(500);
  });
});
