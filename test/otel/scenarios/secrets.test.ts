import { inspect } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { answer, inTurn, startServer } from '../../integrations/http/startHttp.ts';
import { attachTelemetry } from '../../../otel/attachTelemetry.ts';
import { startApiProxy } from '../../proxy/api/startApiProxy.ts';
import { startProxy } from '../../proxy/mcp/startProxy.ts';
import { type Exported, exportedBy, registerContext, startTelemetry } from '../startTelemetry.ts';

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

const asText = (value: unknown): string =>
  inspect(value, { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null });
const spansAsText = (spans: ReturnType<Exported['spans']>): string =>
  asText(
    spans.map(({ name, attributes, events, status, links, resource }) => ({
      name,
      attributes,
      events,
      status,
      links,
      resource,
    })),
  );

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

  const exported = spansAsText(spans());
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

it('[O-8] [O-5] planted secrets of requests that pass a proxy are in no span, no metric and no log', async () => {
  registerContext();
  const { shape, named, prompt, header, query, result } = planted;
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const proxy = await startProxy();
  const api = await startApiProxy({
    script: [{ text: result }, { do: 'refuse', status: 400, error: `bad key ${shape}` }],
    gateway: { logger: { debug: log, info: log, warn: log, error: log } },
  });
  const exports = [proxy.registry, api.registry].map((registry) =>
    exportedBy((providers) => attachTelemetry(registry, providers)),
  );
  await proxy.open();
  await proxy.call('plain', { do: 'say', raw: result, apiKey: named, text: shape });
  await proxy.call('fail', { prompt });
  await proxy.ask('tools/call', { name: `ask ${shape}`, arguments: { prompt } }, `id-${shape}`);
  await proxy.ask('resources/read', { uri: `file:///${query}?token=${named}` });
  await proxy.ask(`made/up ${shape}`, { prompt });
  const body = JSON.stringify({ model: 'opus', stream: true, system: prompt, messages: [{ content: shape }] });
  const headers = { authorization: `Bearer ${named}`, 'x-api-key': header, baggage: `user=${named}` };
  for (let count = 0; count < 2; count++) await api.ask({ body, headers, path: `/v1/messages?key=${query}` }).got;
  await api.ask({ method: 'GET', path: `/v1/files/${query}?token=${shape}`, headers }).got;
  await Promise.all([proxy.stop(), api.stop()]);

  const told = exports.map(({ spans }) => spansAsText(spans()));
  expect(told[0]).toContain('tools/call ask [redacted]');
  expect(told[1]).toContain('chat opus');
  const all = [...told, ...(await Promise.all(exports.map(async (each) => asText(await each.metrics())))), ...logged];
  for (const text of all) expect(Object.values(planted).filter((secret) => text.includes(secret))).toEqual([]);
});
