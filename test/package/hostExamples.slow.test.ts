import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FailureKind, failureKinds } from '../../src/policy/failures/failure.ts';
import { httpResponseOf } from '../../src/policy/failures/httpResponse.ts';
import { deferred } from '../support/deferred.ts';
import { type Answer, found, startHost, unavailable } from './startHost.ts';

const missing: Answer = (response) => {
  response.writeHead(404).end();
};
const limited: Answer = (response) => {
  response.writeHead(429, { 'retry-after': '7200' }).end();
};
const hanging: Answer = () => undefined;

const clean = [0, null];

/** The body of the response to a message. */
const answers = (example: string, text: string): object =>
  example === 'hono.mjs' ? { status: 'ok', value: [text] } : { ok: true, text: `Echo: ["${text}"]` };

describe.each(['express.ts', 'hono.mjs'])('the host in examples/%s', (example) => {
  it('[U-1] answers requests through the gateway, and ends by itself when it is told to', async () => {
    const { search, say, stop } = await startHost(example);
    expect(await (await search('trees')).json()).toEqual(['trees']);
    expect(await (await say('mailboxes')).json()).toMatchObject(answers(example, 'mailboxes'));
    expect(await stop()).toEqual(clean);
  });

  it('[U-1] gets over a fault that passes, for requests and for sessions', async () => {
    const { upstream, search, say, stop } = await startHost(example);
    const once_: Answer = (response, query) => {
      upstream.answer = found;
      unavailable(response, query);
    };
    upstream.answer = once_;
    expect((await search('trees')).status).toBe(200);
    upstream.answer = once_;
    expect(await (await say('mailboxes')).json()).toMatchObject(answers(example, 'mailboxes'));
    expect(upstream.asked).toEqual(['trees', 'trees', 'mailboxes', 'mailboxes']);
    expect(await stop()).toEqual(clean);
  });

  it('[U-1] answers 504 for what hangs, 404 for what is not there, and goes on', async () => {
    const { upstream, search, stop } = await startHost(example, { TIMEOUT_MS: '2000' });
    upstream.answer = hanging;
    const late = await search('trees');
    expect([late.status, await late.json()]).toMatchObject([504, { kind: 'timeout' }]);
    upstream.answer = missing;
    expect((await search('trees')).status).toBe(404);
    upstream.answer = found;
    expect((await search('trees')).status).toBe(200);
    expect(await stop()).toEqual(clean);
  });

  it('[U-1] [M-2] answers 502 until the circuit opens, then 503 at once with the time of the next probe', async () => {
    const { upstream, search, say, stop } = await startHost(example, { WAIT_MS: '0' });
    upstream.answer = unavailable;
    const responses = [];
    for (const query of ['1', '2', '3', '4']) responses.push(await search(query));
    expect(responses.map(({ status }) => status)).toEqual([502, 502, 503, 503]);
    expect(upstream.asked).toHaveLength(5);
    const retryAfter = Number(responses[3]?.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    const refused = await say('5');
    const isError = example === 'hono.mjs' ? { status: 'error' } : { ok: false };
    expect([refused.status, await refused.json()]).toMatchObject([502, isError]);
    expect(upstream.asked).toHaveLength(5);
    expect(await stop()).toEqual(clean);
  });

  it('[U-1] [M-13] answers 503 with the upstream’s own hint', async () => {
    const { upstream, search, stop } = await startHost(example);
    upstream.answer = limited;
    const answer = await search('trees');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '7200']);
    expect(await stop()).toEqual(clean);
  });

  it('[R-8] gives up on the upstream when its client goes away', async () => {
    const { upstream, search, stop } = await startHost(example);
    const closed = new Promise((resolve) => {
      upstream.answer = (response) => response.on('close', resolve);
    });
    const heard = upstream.hears();
    const leaving = new AbortController();
    const answer = search('trees', { signal: leaving.signal });
    await heard;
    leaving.abort();
    await expect(answer).rejects.toThrow('aborted');
    await closed;
    expect(await stop()).toEqual(clean);
  });

  it('[U-1] [I-1] lets the requests that are under way end when it is told to, and takes no others', async () => {
    const { upstream, search, say, beginStop, exited } = await startHost(example);
    const held: (() => void)[] = [];
    const both = deferred<undefined>();
    upstream.answer = (response, query) => {
      if (held.push(() => found(response, query)) === 2) both.resolve(undefined);
    };
    const answers = Promise.all([search('trees'), say('mailboxes')]);
    await both.promise;
    await beginStop();
    await expect(say('too late')).rejects.toThrow('fetch failed');
    for (const answer of held) answer();
    expect((await answers).map(({ status }) => status)).toEqual([200, 200]);
    expect(await exited).toEqual(clean);
  });

  it('[U-1] [I-1] answers them at once when it is told to end a second time', async () => {
    const { upstream, search, beginStop, stop } = await startHost(example);
    const both = deferred<undefined>();
    let asked = 0;
    upstream.answer = () => {
      if (++asked === 2) both.resolve(undefined);
    };
    const answers = Promise.all([search('trees'), search('leaves')]);
    await both.promise;
    await beginStop();
    const exit = stop();
    expect((await answers).map(({ status }) => status)).toEqual([503, 503]);
    expect(await exit).toEqual(clean);
  });
});

describe('docs/embedding.md', () => {
  const page = readFileSync(new URL('../../docs/embedding.md', import.meta.url), 'utf8');
  const example = (name: string) => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');

  it('[U-1] shows the examples as they are', () => {
    const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, block]) => block);
    expect(blocks).toEqual(['minimal.mjs', 'hono.mjs'].map(example));
    expect(page).toContain(`\`\`\`ts\n${example('express.ts')}\`\`\``);
    expect(example('express.ts').split('\n').length).toBeLessThanOrEqual(121);
  });

  it('[U-1] says what each kind of failure is answered with', () => {
    const rows = [...page.matchAll(/^\| (\d+) \| ([^;|]*)/gm)];
    const told = rows.flatMap(([, status, kinds = '']) =>
      [...kinds.matchAll(/`(\w+)`/g)].map(([, kind]) => [kind, Number(status)]),
    );
    const failure = { message: '', outcome: 'failed', integration: '', attempts: 1, retryable: false } as const;
    const is = (Object.keys(failureKinds) as FailureKind[]).map((kind) => [
      kind,
      httpResponseOf({ ...failure, kind }).status,
    ]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(is));
  });
});
