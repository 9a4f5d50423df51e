import { context, trace } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgent } from '../../../agents/conversation/index.ts';
import { createClaude } from '../../../agents/claude/index.ts';
import { connectCodex } from '../../../agents/codex/index.ts';
import { createGateway, unwrap } from '../../../src/index.ts';
import { type Traced, withTelemetry } from '../../../otel/index.ts';
import { codexFixture, quickTurn } from '../../agents/codex/startCodex.ts';
import { scriptedQuery } from '../../agents/conversation/scriptedQuery.ts';
import { fakeClaude } from '../../support/fakeClaude.ts';
import { type Exported, exportedBy, registerContext } from '../startTelemetry.ts';

const telemetryOn = (host: Traced): Exported => {
  registerContext();
  return exportedBy((providers) => withTelemetry(host, providers));
};

/** Does something below a span of the caller's. @returns the id of that span. */
async function below<T>({ tracerProvider }: Exported, work: () => Promise<T>): Promise<string> {
  const span = tracerProvider.getTracer('host').startSpan('request');
  await context.with(trace.setSpan(context.active(), span), work);
  span.end();
  return span.spanContext().spanId;
}

describe('telemetry of a host that is no gateway', () => {
  it('[O-5] is that of an agent of createAgent: its turns, below who asked', async () => {
    const sdk = scriptedQuery();
    const agent = createAgent({ backend: 'claude', name: 'coder', model: 'opus', claude: { query: sdk.query } });
    onTestFinished(() => agent.stop());
    const exported = telemetryOn(agent);
    const parent = await below(exported, async () => {
      const turn = unwrap(await agent.start()).send('hi');
      await expect.poll(() => sdk.queries.length).toBe(1);
      sdk.at(0).answer('done');
      expect(await turn.outcome).toMatchObject({ ok: true });
    });
    const span = exported.span('invoke_agent coder');
    expect(span.parentSpanContext?.spanId).toBe(parent);
    expect(span.attributes).toMatchObject({ 'gen_ai.agent.name': 'coder', 'gen_ai.request.model': 'opus' });
  });

  it('[O-5] is that of a connection to Codex', async () => {
    const env = { FAKE_CODEX: JSON.stringify({ 'turn/start': [quickTurn] }) };
    const codex = unwrap(await connectCodex({ command: process.execPath, args: [codexFixture], env }));
    onTestFinished(() => codex.close());
    const exported = telemetryOn(codex);
    const parent = await below(exported, async () => {
      expect(await unwrap(await codex.startThread()).send('hi').outcome).toMatchObject({ ok: true });
    });
    const { parentSpanContext, attributes } = exported.span('invoke_agent codex');
    expect(parentSpanContext?.spanId).toBe(parent);
    expect(attributes).toMatchObject({ 'gen_ai.provider.name': 'openai' });
  });

  it('[O-5] is that of a Claude of createClaude', async () => {
    const fake = fakeClaude({ text: 'hello' });
    const claude = createClaude({ command: fake.command, args: fake.args, env: fake.env, log: false });
    onTestFinished(() => claude.stop());
    const exported = telemetryOn(claude);
    const parent = await below(exported, () => claude.invokeClaude('hi'));
    expect(exported.span('invoke_agent claude').parentSpanContext?.spanId).toBe(parent);
  });

  it('[O-5] ends with it, and is refused twice', async () => {
    const agent = createAgent({ backend: 'claude', claude: { query: scriptedQuery().query } });
    const off = withTelemetry(agent);
    expect(() => withTelemetry(agent)).toThrow('this one has it already');
    off();
    withTelemetry(agent);
    await agent.stop();
    expect(() => withTelemetry(agent)()).not.toThrow();
  });
});

it('[O-5] a command that is a hook goes on with the trace of its call', async () => {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const exported = telemetryOn(gateway);
  const script = 'console.log(JSON.stringify({ systemMessage: process.env.TRACEPARENT }))';
  gateway.hook('PreToolUse', { command: process.execPath, args: ['-e', script] }, { name: 'guard' });
  await gateway.start();
  const answer = await gateway.runHooks({ event: 'PreToolUse', action: 'Bash', payload: {} });
  const [span] = exported.spans();
  expect(span?.name).toBe('call hook:guard');
  expect(JSON.stringify(answer)).toContain(span?.spanContext().spanId);
});
