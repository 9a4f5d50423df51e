import { context, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { agentKind } from '../../../agents/conversation/index.ts';
import { createGateway, unwrap } from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/index.ts';
import { workflowKind } from '../../../workflow/index.ts';
// What is imported at the first use takes real time, which a simulated clock does not wait for.
import '../../../workflow/plan.ts';
import { scriptedQuery } from '../../agents/conversation/scriptedQuery.ts';
import { registerContext, telemetryOf } from '../startTelemetry.ts';

describe('the spans of a workflow', () => {
  it('[O-5] are its run, in it its items, and in these the turns of agents that do them', async () => {
    registerContext();
    const clock = new SimulatedClock();
    const gateway = createGateway({ kinds: [agentKind, workflowKind], clock, random: () => 0.5 });
    const { span, points, tracerProvider } = telemetryOf(gateway, clock);
    const sdk = scriptedQuery();
    const coder = gateway.agent('coder', { backend: 'claude', model: 'opus', claude: { query: sdk.query } });
    const deploy = gateway.workflow('deploy', {
      backends: [
        {
          name: 'primary',
          plan: () => ({ success: true, items: [{ id: 'write', action: 'write it' }] }),
          async item() {
            const conversation = unwrap(await coder.start());
            return unwrap(await conversation.send('write it').outcome).text;
          },
        },
      ],
    });
    await gateway.start();
    const request = tracerProvider.getTracer('host').startSpan('request');
    const run = context.with(trace.setSpan(context.active(), request), () => deploy.run('today'));
    request.end();
    // What an agent is made of is loaded with its first turn.
    while (sdk.queries.length === 0) await clock.settle();
    const asks = { id: 'm1', content: [{ type: 'tool_use', id: 't1', name: 'Write', input: {} }] };
    sdk.at(0).say({ type: 'assistant', message: asks }, { type: 'assistant', message: asks });
    sdk.at(0).say({ type: 'assistant', message: { id: 'm2', content: [{ type: 'text', text: 'done' }] } });
    sdk.at(0).answer('done');
    await clock.settle();
    expect(await run.outcome).toMatchObject({ status: 'succeeded' });

    const [whole, item, turn] = [span('invoke_workflow deploy'), span('workflow item'), span('invoke_agent coder')];
    expect([whole, item, turn].map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      [request, whole, item].map((each) => each.spanContext().spanId),
    );
    expect(whole.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.agent.name': 'deploy',
    });
    expect(item.attributes['unwedge.call.label']).toContain('write');
    expect(turn.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'coder',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'opus',
    });
    const operations = (await points('gen_ai.invoke_agent.duration')).map(
      ({ attributes }) => `${String(attributes['gen_ai.operation.name'])} ${String(attributes['gen_ai.agent.name'])}`,
    );
    for (const [name, sum] of [
      ['inference_calls', 2],
      ['tool_calls', 1],
    ] as const) {
      const found = await points(`gen_ai.invoke_agent.${name}`);
      expect(found).toMatchObject([{ attributes: { 'gen_ai.agent.name': 'coder' }, value: { count: 1, sum } }]);
    }
    expect(new Set(operations)).toEqual(new Set(['invoke_agent coder', 'invoke_workflow deploy']));
  });
});
