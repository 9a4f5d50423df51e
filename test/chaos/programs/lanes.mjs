import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leftMs, playRound } from './round.mjs';

/** Programs that are harmed at the same time. */
const atOnce = 3;

/**
 * Plays rounds of programs, several at once: each program and the database that it keeps in one lane, so that its next start finds what the last one left.
 * @param {object} about
 * @param about.harmOf - the harm of a round, by the name of the program and its number
 * @param about.room - where a program keeps what it keeps, in a folder of the run, and how that is taken away
 * @returns {Promise<import('../killPrograms.d.mts').ProgramsReport>}
 */
export async function playLanes({
  names,
  times,
  seed,
  harmOf,
  room = (directory) => mkdirSync(directory),
  after,
  progress = () => undefined,
}) {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-chaos-'));
  const report = {
    seed,
    rounds: 0,
    requests: 0,
    answered: 0,
    excused: 0,
    slowestEndMs: 0,
    late: 0,
    by: {},
    violations: [],
  };
  const lanes = Array.from({ length: atOnce }, (_, lane) => names.filter((_, index) => index % atOnce === lane));
  const state = Object.fromEntries(
    names.map((name) => [name, { name, directory: join(directory, name), kept: new Map() }]),
  );
  const leaves = names.map((name) => room(state[name].directory));
  const play = async (name, number, harm) => {
    add(report, await playRound({ ...state[name], number, seed, harm }));
    progress(report.rounds, report.answered);
  };
  try {
    await Promise.all(
      lanes.map(async (own) => {
        for (let round = 0; own.length > 0; round++) {
          const name = own[round % own.length];
          const number = Math.floor(round / own.length) * names.length + names.indexOf(name);
          if (number >= times) break;
          await play(name, number, harmOf(name, number));
          await after?.(name, (harm) => play(name, number, harm));
        }
      }),
    );
    // What was accepted before the last harm has its end as well.
    for (const name of names) if (state[name].kept.size > 0) await play(name, times, { name: 'nothing' });
    return report;
  } finally {
    for (const leave of leaves) leave?.();
    if (process.env.KEEP === undefined) rmSync(directory, { recursive: true, force: true });
    else process.stderr.write(`${directory}\n`);
  }
}

function add(report, { what, requests, answered, excused, tookMs, violations }) {
  report.rounds++;
  report.by[what] = (report.by[what] ?? 0) + 1;
  report.requests += requests;
  report.answered += answered;
  report.excused += excused;
  report.slowestEndMs = Math.max(report.slowestEndMs, tookMs);
  if (tookMs > leftMs.promised) report.late++;
  report.violations.push(...violations);
}
