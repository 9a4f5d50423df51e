// `npm run fuzz -- TARGET... [--seed N] [--inputs N]`: feeds readers of input from outside with what nobody would write.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildTargets } from './buildTargets.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    inputs: { type: 'string', default: '100000' },
    json: { type: 'boolean' },
    hang: { type: 'string', default: '30000' },
  },
});
const { program, names } = await buildTargets();
const asked = positionals.length === 0 ? names : positionals;
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown target ${unknown.join(', ')}; the targets are ${names.join(', ')}`);
  process.exit(2);
}
const directory = fileURLToPath(new URL('../../.build/fuzz', import.meta.url));
mkdirSync(directory, { recursive: true });
for (const name of asked) if (!play(name)) process.exitCode = 1;

/** @returns whether nothing was found. */
function play(name) {
  const hangFile = `${directory}/${name}.${process.pid}.input`;
  rmSync(hangFile, { force: true });
  const order = {
    name,
    seed: Number(values.seed),
    inputs: Number(values.inputs),
    hangFile,
    hangMs: Number(values.hang),
  };
  const from = performance.now();
  // A cap of the heap, in MB: what is kept of one input for the next would fill it.
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--max-old-space-size=384', '--enable-source-maps', program, JSON.stringify(order)],
    { encoding: 'utf8', maxBuffer: 1e8 },
  );
  const seconds = (performance.now() - from) / 1000;
  const again = `npm run fuzz -- ${name} --seed ${order.seed} --inputs ${order.inputs}`;
  const last = stdout.trimEnd().split('\n').at(-1);
  if (!last?.startsWith('{')) {
    const hang = existsSync(hangFile) ? `, reading ${JSON.stringify(readFileSync(hangFile, 'latin1'))}` : '';
    console.log(
      `${name}: ended by ${signal ?? status} after ${seconds.toFixed(0)} s${hang}\n${stderr.slice(0, 3000)}\nplay it again: ${again}`,
    );
    return false;
  }
  const report = JSON.parse(last);
  if (values.json) console.log(JSON.stringify({ name, seconds: Math.round(seconds), ...report }));
  else {
    const { inputs, corpus, branches, stepsPerByte, slowestMs, heapMb, findings } = report;
    console.log(
      `${name}: ${inputs} inputs in ${seconds.toFixed(0)} s, ${branches} branches, ${corpus} inputs kept, at most ${stepsPerByte.toFixed(0)} steps a byte and ${slowestMs.toFixed(0)} ms, ${heapMb} MB: ${findings.length} found`,
    );
    for (const { says, input, stack } of findings)
      console.log(
        `\n  ${says}\n  input: ${input.length > 1500 ? `${input.slice(0, 1500)}…` : input}\n${stack.map((line) => `    ${line}`).join('\n')}`,
      );
    if (findings.length > 0) console.log(`\nplay it again: ${again}`);
  }
  return report.findings.length === 0;
}
