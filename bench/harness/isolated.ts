import { loadSuite } from '../suites.ts';
import { processMeter } from './meter.ts';
import { createProbe } from './probe.ts';

// The other side of isolate(): measures one case and hands back what it read.
const [suite = '', subject = '', of = ''] = process.argv.slice(2);
const { subjects } = await loadSuite(suite);
const work = subjects.find(({ name }) => name === subject)?.cases[of];
if (work === undefined) throw new RangeError(`No case \`${of}\` of \`${subject}\` in suite \`${suite}\``);
const { probe, readings } = createProbe(processMeter());
await work.measure(probe);
process.send?.(readings, () => {
  process.disconnect();
});
