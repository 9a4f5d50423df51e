import { createGateway } from 'unwedge';
import { faultyUpstream } from 'unwedge/testing';
import { showProgress, workflowKind } from 'unwedge/workflow';

// An upstream that wants to be paid for the last item, and so for any other, as far as anybody knows.
const upstream = await faultyUpstream({ '/fetch': [{}], '/write': [{}], '/mail': [{ status: 402 }] });

// Both backends make the same plan; what the first has done is handed over to the second.
const plan = () => ({
  success: true,
  items: [
    { id: 'fetch', action: 'fetch prices' },
    { id: 'write', action: 'write summary', dependencies: ['fetch'] },
    { id: 'mail', action: 'mail it', dependencies: ['write'] },
  ],
});

const gateway = createGateway({ kinds: [workflowKind] });
const report = gateway.workflow('report', {
  backends: [
    {
      name: 'remote',
      plan,
      async item({ id }, { signal }) {
        const response = await fetch(`${upstream.url}/${id}`, { signal });
        if (response.ok) return response.text();
        throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
      },
    },
    { name: 'local', plan, item: ({ id }) => `local/${id}` },
  ],
});

await gateway.start();
const run = report.run('daily');
await showProgress(run, process.stdout);
const { status, items } = await run.outcome;
console.log(
  status,
  items.map(({ id, backend }) => `${id} by ${backend}`),
);
await gateway.stop();
await upstream.close();
