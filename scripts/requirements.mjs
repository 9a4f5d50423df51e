// Prints each requirement with its status and the tests that name it; exits 1 when a built one has none.
import { judgeRequirements } from './requirementList.mjs';

const { rows, unknown, untested } = judgeRequirements();
const files = (tests) => [...new Set(tests.map(({ file }) => file))];
const totals = {
  requirements: rows.length,
  built: rows.filter(({ status }) => status === 'built').length,
  tested: rows.filter(({ tests }) => tests.length > 0).length,
};

if (process.argv.includes('--json')) {
  const requirements = rows.map(({ id, status, tests }) => ({ id, status, tests: tests.length, files: files(tests) }));
  process.stdout.write(`${JSON.stringify({ requirements, totals, untested, unknown }, null, 2)}\n`);
} else {
  const line = (id, status, tests, where) =>
    `${id.padEnd(6)}${status.padEnd(9)}${tests.padStart(5)}  ${where}`.trimEnd();
  console.log(line('ID', 'STATUS', 'TESTS', 'FILES'));
  for (const { id, status, tests } of rows) console.log(line(id, status, `${tests.length}`, files(tests).join(' ')));
  console.log(`\n${totals.requirements} requirements, ${totals.built} built, ${totals.tested} with tests`);
}
for (const id of untested) console.error(`${id} is built, but no test title names it`);
for (const { id, file, line } of unknown) console.error(`${file}:${line} names ${id}, which is no requirement`);
process.exitCode = untested.length + unknown.length > 0 ? 1 : 0;
