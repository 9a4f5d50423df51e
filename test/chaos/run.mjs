// `npm run chaos -- SCENARIO [--times N] [--seed N] [--json]`: harms real processes at random points and checks what is left.
import { parseArgs } from 'node:util';

/** By name: what it does, how it is run (200 times where it does not say), and what it found in one line. Loaded when asked for. */
const scenarios = {
  gateway: {
    about:
      'kill -9, SIGTERM and stop() of a gateway under load; every accepted message must be processed or become a dead letter, every call answered',
    harm: async (options) => (await import('./killGateway.mjs')).killGateway(options),
    said: ({ kills, stops, accepted, redelivered, putBack, poisoned, lostCalls }) =>
      `gateway killed ${kills} times and stopped ${stops} times: ${accepted} messages accepted, ` +
      `${redelivered} delivered again (${putBack} after a stop), ` +
      `${poisoned} dead letters, ${lostCalls} lost calls answered`,
  },
  mcp: {
    about:
      'kill -9 and -STOP of MCP servers behind the proxy; every request must be answered once and within 25 s of the death of its server, no client disconnected',
    harm: async (options) => (await import('./killMcp.mjs')).killMcp(options),
    said: ({ kills, stops, requests, lost, refused, slowestMs }) =>
      `MCP servers killed ${kills} times and stopped ${stops} times: ${requests} requests answered, ` +
      `${lost} of them as lost and ${refused} as refused, the slowest ${(slowestMs / 1000).toFixed(1)} s after the death of its server`,
  },
  bank: {
    about:
      'kill -9 of a bank behind the proxy with a reconcile rule, before and after payments, in the question and at any moment; its ledger must hold each payment once, every answer must be true',
    harm: async (options) => (await import('./killBank.mjs')).killBank(options),
    said: ({ kills, wanted, made, answers, found, done, notDone, unknown, notStarted, slowestMs }) =>
      `bank killed ${kills} times: ${made} of ${wanted} payments made; ${answers} answers, of which ${found} were found out, ` +
      `${done} say it was done, ${notDone} not done, ${notStarted} not started, ${unknown} unknown; the slowest ${(slowestMs / 1000).toFixed(1)} s`,
  },
  late: {
    about:
      'kill -9 of a gateway, of `unwedge mcp`, and of the servers behind them while sessions and clients ask a tool that takes longer than their limit; a finished answer must be given once, to who asked',
    harm: async (options) => {
      const { killLateProxy } = await import('./killLateProxy.mjs');
      const report = await (await import('./killLate.mjs')).killLate(options);
      const proxies = [
        await killLateProxy({ ...options, by: 'url' }),
        await killLateProxy({ ...options, by: 'stdio' }),
      ];
      const violations = [report, ...proxies].flatMap((each) => each.violations);
      return { ...report, proxies, violations };
    },
    said: ({ gateways, servers, messages, begun, answers, late, lost, proxies }) =>
      `gateway killed ${gateways} times and its server ${servers} times: ${messages} messages processed, the tool ran ${begun} times, ` +
      `${answers} answers were given, ${late} of them late, and ${lost} were told as lost` +
      proxies
        .map(
          (each) =>
            `; before a server by ${each.by} the proxy was killed ${each.proxies} times and the server ${each.servers} times: ` +
            `the tool ran ${each.begun} times, ${each.answers} answers were given, ${each.late} of them late, and ${each.lost} were told as lost`,
        )
        .join(''),
  },
  inbox: {
    about:
      'kill -9 and SIGTERM of a gateway whose sessions ask people, whom `unwedge inbox answer` stands for; each question must be asked once, its one end reach its turn, and nothing be allowed by a timeout',
    harm: async (options) => (await import('./killInbox.mjs')).killInbox(options),
    said: ({ kills, stops, messages, questions, allowed, declined, expired, answers, late }) =>
      `gateway killed ${kills} times and stopped ${stops} times: ${messages} messages asked ${questions} questions, of which ${allowed} were allowed, ` +
      `${declined} declined and ${expired} expired; ${answers} answers by the command, ${late} of them too late`,
  },
  cluster: {
    about:
      'kill -9, SIGSTOP, cut and hanging connections, a crashed and a full database for three to five gateways on one PostgreSQL under load, one of them an hour ahead and one behind; each promise is judged from the journals of all nodes (default 300)',
    usualTimes: '300',
    harm: async (options) => {
      const { buildProgram } = await import('../support/sourceModule.mjs');
      return (await import(await buildProgram('cluster/killCluster.ts'))).killCluster(options);
    },
    said: ({ nodes, faults, accepted, processed, calls, claims, takeovers }) =>
      `${nodes} gateways on one PostgreSQL: ${faults.kill} killed, ${faults.freeze} frozen, ${faults.hole} in a black hole, ` +
      `${faults.deaf + faults.mute} cut in one direction, ${faults.stop} stopped, ${faults.release} stopped while the release hung, ` +
      `the database crashed ${faults.restart} times and was full ${faults.disk} times: ` +
      `${accepted} messages accepted, ${processed} processed, ${calls} calls, ${claims} claims; ` +
      `${takeovers.count} sessions were taken over, p50 ${takeovers.p50} ms, p99 ${takeovers.p99} ms, max ${takeovers.max} ms`,
  },
  programs: {
    about:
      'run, hook, agent, mcp (also --servers, --url, --listen), api, serve and acp are killed, stopped, told to end, and lose their pipes, and so do the servers behind them; each request must get one answer, the exit code be as documented, nothing be left',
    harm: async (options) => (await import('./killPrograms.mjs')).killPrograms(options),
    said: ({ rounds, requests, answered, excused, slowestEndMs, late }) =>
      `programs harmed ${rounds} times: ${requests} requests, ${answered} answered and ${excused} of programs that had been ended; ` +
      `the last process was gone ${slowestEndMs} ms after its program at most, ${late} times after more than 2 s`,
  },
  limits: {
    about:
      'the same programs with a full disk, one that fills and has room again, few descriptors, few processes, or a server that runs out of memory, each then once more with nothing short; each request must get one answer, an early end say what was short',
    harm: async (options) => (await import('./limitPrograms.mjs')).limitPrograms(options),
    said: ({ rounds, requests, answered, excused, missing }) =>
      `programs started ${rounds} times, every second time short of something: ${requests} requests, ${answered} answered and ${excused} of programs that could not go on` +
      (missing.length === 0 ? '' : `; missing here: ${missing.join(', ')}`),
  },
  claude: {
    about:
      'calls of a claude of which 5 % of the runs fail, with prompts of 1 B to 1 MB; 99 % must succeed (default 1000)',
    usualTimes: '1000',
    harm: async (options) => (await import('./askClaude.mjs')).askClaude(options),
    said: ({ calls, succeeded, attempts, faults, largestCommandLine }) =>
      `claude asked ${calls} times: ${succeeded} calls succeeded in ${attempts} attempts, of which ` +
      `${Object.values(faults).reduce((sum, each) => sum + each, 0)} were made to fail; the longest command line had ` +
      `${largestCommandLine} bytes`,
  },
};

const names = Object.keys(scenarios);
const usage = `Usage: npm run chaos -- ${names.join('|')} [--times N] [--seed N] [--json]

${Object.entries(scenarios)
  .map(([name, { about }]) => `  ${name.padEnd(12)} ${about}\n`)
  .join('')}  --times N    how often (default 200)
  --seed N     of the random points (default: by the clock; printed)
  --json       the report as JSON
`;

function fail(message) {
  process.stderr.write(`chaos: ${message}\n`);
  process.exit(2);
}

function count(name, text) {
  if (!/^\d{1,9}$/.test(text)) fail(`Expected \`--${name}\` to be a whole number, got "${text}"`);
  return Number(text);
}

function read() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        times: { type: 'string' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return fail(error.message);
  }
}

const { values, positionals } = read();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const [name] = positionals;
if (positionals.length !== 1 || !Object.hasOwn(scenarios, name)) {
  fail(
    `Expected ${names.map((each) => `\`${each}\``).join(' or ')}, got "${positionals.join(' ')}"; see npm run chaos -- --help`,
  );
}
const { harm, said, usualTimes = '200' } = scenarios[name];
const times = count('times', values.times ?? usualTimes);
const seed = count('seed', values.seed);
const startedAt = Date.now();
const report = await harm({
  times,
  seed,
  progress(done, served) {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${times}, ${served} served `);
  },
});
const { violations } = report;
if (values.json) process.stdout.write(`${JSON.stringify({ ...report, ms: Date.now() - startedAt })}\n`);
else {
  process.stdout.write(`${said(report)}, ${violations.length} violations\n`);
  for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
}
if (violations.length > 0) {
  process.stdout.write(`Again: npm run chaos -- ${name} --times ${times} --seed ${seed}\n`);
  process.exitCode = 1;
}
// A server of tests lives as long as the process that started it.
process.stdout.write('', () => process.exit());
