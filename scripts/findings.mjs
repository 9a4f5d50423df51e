// `npm run findings [-- NAME...]`: runs what is under findings/, a line each; exit 1 when one has changed or did not end in its time.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: fileURLToPath(new URL('../findings', import.meta.url)) },
    minutes: { type: 'string', default: '10' },
  },
});
const all = readdirSync(values.folder).flatMap((file) => (file.endsWith('.sh') ? [file.slice(0, -3)] : []));
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown finding ${unknown.join(', ')}; there are ${all.join(', ')}`);
  process.exit(2);
}

const names = positionals.length > 0 ? positionals : all;
let changed = 0;
for (const name of names) {
  const start = performance.now();
  const { code, output } = await run(join(values.folder, `${name}.sh`), Number(values.minutes) * 60_000);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'as seen' : 'CHANGED'}  ${name}  ${seconds} s`);
  if (code === 0) continue;
  changed++;
  console.log(output.trimEnd().split('\n').slice(-20).join('\n').replace(/^/gm, '         '));
}
console.log(`findings: ${names.length - changed} of ${names.length} as they were seen`);
process.exitCode = changed === 0 ? 0 : 1;

/** Runs a script in a folder of its own, as a group that is ended whole. */
async function run(script, limitMs) {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'unwedge-finding-'));
  const child = spawn('bash', [script], { cwd: TMPDIR, env: { ...process.env, TMPDIR }, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const late = setTimeout(() => {
    output += `\nnot ended within ${limitMs / 60_000} min`;
    killGroup(child.pid);
  }, limitMs);
  const code = await new Promise((resolve) => {
    child.on('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  clearTimeout(late);
  killGroup(child.pid);
  rmSync(TMPDIR, { recursive: true, force: true });
  return { code, output };
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
