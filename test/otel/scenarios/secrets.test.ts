import { inspect } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { answer, inTurn, startServer } from '../../integrations/http/startHttp.ts';
import { startTelemetry } from '../startTelemetry.ts';

/** What must come out nowhere: by its shape, by the name it goes under, as a value of the environment, as a prompt, an input, a result. */
const planted = {
  shape: `sk-ant-api03-${'aB3_'.repeat(12)}`,
  named: 'correct-horse-battery',
  environment: 'staple-of-the-environment',
  variable: 'variable-of-a-child',
  prompt: 'tell me what I said in confidence',
  header: 'header-of-the-integration',
  query: 'asked-for-in-the-query',
  result: 'what the tool has found',
} as const;

/** What somebody throws who does not think of where it goes. */
function indiscreet(): Error {
  const { shape, named, environment, prompt } = planted;
  const cause = new Error(`refused: password=${named}`);
  const error = new Error(`401 for ${shape}, with ${environment}`, { cause });
  return Object.assign(error, { code: 'ECONNRESET', config: { headers: { Authorization: named }, body: { prompt } } });
}

it('[O-8] [O-5] planted secrets are in no span and no metric', async () => {
  vi.stubEnv('KB_PASSWORD', planted.environment);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { shape, named, environment, prompt, header, query, result } = planted;
  const server = await startServer(inTurn(answer(500, { error: `no luck, ${header}` }), answer(200, { result })));
  const policy = { retry: { maxAttempts: 1 } };
  const { gateway, spans, metrics } = await startTelemetry((declared) => {
    declared.integration('kb', { policy }, ({ tool }: { tool: string }) => {
      if (tool === 'find') return { result };
      throw indiscreet();
    });
    declared.hook('Stop', () => {
      throw indiscreet();
    });
    declared.http('api', { baseUrl: server.url, headers: { 'x-api-key': header }, policy });
    const script = `console.error('${shape} --token ${named}'); process.exit(3)`;
    declared.subprocess('command', {
      command: process.execPath,
      args: ['-e', script],
      env: { SECRET_TOKEN: planted.variable },
      policy,
    });
    declared.session('agent:main', {
      onMessage: async (_message, turn) => {
        await turn.tool('kb', 'find', { apiKey: named, text: shape });
        await turn.tool('kb', `ask ${shape}`, { prompt });
        await turn.tool('api', 'get', {
          path: `x/${query}`,
          query: { q: query },
          headers: { authorization: `Bearer ${shape}` },
        });
        await turn.tool('api', 'post', { method: 'POST', path: 'x', body: { prompt } });
        await turn.tool('command', 'run', { stdin: prompt });
        throw indiscreet();
      },
    });
  });
  await gateway.runHooks({ event: 'Stop', action: shape, payload: named });
  const kb = gateway.integration('other', { policy }, () => {
    throw indiscreet();
  });
  await kb.call({ prompt }, { label: `for ${shape} of ${environment}` });
  const sent = await gateway.session('agent:main').send({ kind: 'user', text: prompt });
  if (sent.accepted) await sent.processed;

  const asText = (value: unknown): string =>
    inspect(value, { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null });
  const exported = asText(
    spans().map(({ name, attributes, events, status, links, resource }) => ({
      name,
      attributes,
      events,
      status,
      links,
      resource,
    })),
  );
  const measured = asText(await metrics());
  expect(spans().map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'execute_tool find',
      'execute_tool ask [redacted]',
      'GET',
      'POST',
      'call command',
      'session turn',
    ]),
  );
  expect(exported).toContain('401 for [redacted], with [redacted]');
  expect(measured).toContain('unwedge.call.duration');
  expect(Object.values(planted).filter((secret) => exported.includes(secret) || measured.includes(secret))).toEqual([]);
});
