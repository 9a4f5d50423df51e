import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClaude } from '../../dist/claude/index.js';
import { seededRandom } from '../../dist/testing/index.js';

const program = fileURLToPath(new URL('../fixtures/faultyClaude.sh', import.meta.url));
const longestPrompt = 1_048_576;
/** A command line of more than this, in bytes, has a prompt on it. */
const longestCommandLine = 20_000;
/** Of all calls, what has to succeed. */
const wanted = 0.99;

/**
 * Asks a claude that fails now and then, `times` times with prompts of 1 B to 1 MB, and judges what came of it.
 * @returns {Promise<import('./askClaude.mjs').SoakReport>}
 */
export async function askClaude({
  times,
  seed,
  faultRate = 0.05,
  together = 4,
  loses = 0,
  progress = () => undefined,
}) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-soak-'));
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  const random = seededRandom(seed);
  const before = process.env.TMPDIR;
  // What is written for a prompt is looked for afterwards.
  process.env.TMPDIR = temporary;
  const claude = createClaude({
    command: 'sh',
    args: [program],
    env: {
      FAULTY_CLAUDE: directory,
      FAULTS: String(Math.round(faultRate * 1000)),
      FAULT_SEED: String(seed),
      LOSES: String(loses),
    },
    retry: { baseDelay: 0.01, maxDelay: 0.05 },
    log: false,
  });
  const done = { succeeded: 0, attempts: 0, failures: [], violations: [] };
  const calls = Array.from({ length: times }, (_, index) => callOf(index, random));
  const next = calls.values();
  try {
    await Promise.all(
      Array.from({ length: together }, async () => {
        for (const call of next) {
          await ask(claude, call, done);
          progress(done.succeeded + done.failures.length, done.succeeded);
        }
      }),
    );
    await claude.stop();
    return { seed, calls: times, ...judge(directory, temporary, times, done) };
  } finally {
    await claude.stop();
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The shortest and the longest first, then all sizes between, the small ones as often as the large; now and then a system prompt. */
function callOf(index, random) {
  const size = index === 0 ? 1 : index === 1 ? longestPrompt : Math.floor(longestPrompt ** random());
  const start = `-p $(touch x) "${index}" `;
  const prompt = size < start.length ? 'x'.repeat(size) : start + 'ä\n'.repeat(Math.ceil(size / 3));
  const fits = Buffer.from(prompt).subarray(0, size);
  // Cut in the middle of a character, it would be another prompt.
  const text = fits.toString().replaceAll('\ufffd', '');
  return { prompt: text, systemPrompt: index % 10 === 1 ? 's'.repeat(Math.floor(200_000 * random()) + 1) : undefined };
}

async function ask(claude, { prompt, systemPrompt }, done) {
  const { success, output, error, errorType, attempts } = await claude.invokeClaude(prompt, { systemPrompt });
  done.attempts += attempts;
  if (!success) done.failures.push(`${errorType}: ${error}`);
  else done.succeeded++;
  const hash = createHash('sha256').update(prompt).digest('hex');
  const expected = `${Buffer.byteLength(prompt)} ${hash}`;
  if (success && output !== expected) done.violations.push(`a prompt arrived as ${output}, not as ${expected}`);
}

function judge(directory, temporary, times, { succeeded, attempts, failures, violations }) {
  const runs = existsSync(join(directory, 'runs'))
    ? readFileSync(join(directory, 'runs'), 'utf8').trim().split('\n')
    : [];
  const faults = {};
  let largest = 0;
  for (const run of runs) {
    const [pid, argvBytes, fault] = run.split(' ');
    largest = Math.max(largest, Number(argvBytes));
    if (fault !== 'none') faults[fault] = (faults[fault] ?? 0) + 1;
    if (isOurs(pid)) violations.push(`process ${pid} is left behind`);
  }
  const ratio = succeeded / times;
  if (ratio < wanted) violations.push(`${succeeded} of ${times} calls succeeded, less than ${wanted * 100} %`);
  if (largest > longestCommandLine) violations.push(`a command line was ${largest} bytes long`);
  for (const failure of failures) {
    if (/E2BIG|argument list/i.test(failure)) violations.push(`a prompt did not fit: ${failure}`);
  }
  for (const name of readdirSync(temporary)) {
    if (name.startsWith('unwedge-')) violations.push(`${name} is left behind`);
  }
  if (runs.length !== attempts) violations.push(`${attempts} attempts were counted, ${runs.length} were made`);
  return { succeeded, attempts, faults, largestCommandLine: largest, failures, violations };
}

/** The pid may have been given to somebody else since; where there is no /proc, none is found. */
function isOurs(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('faultyClaude.sh');
  } catch {
    return false;
  }
}
