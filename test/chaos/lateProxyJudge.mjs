/** A death that was this long ago may not have been noticed when a question was asked, in ms. */
const unnoticedMs = 1000;

/**
 * Judges what clients were told by what servers did. What a client asks until it has an answer, or is told that it is lost, is one course: within it a tool
 * runs once, and its answer is given once, there.
 * @param {{ told: readonly import('./lateProxyJudge.mjs').Told[], lines: readonly string[], deaths: readonly import('./lateProxyJudge.mjs').Death[] }} seen
 */
export function judgeLate({ told, lines, deaths }) {
  const runs = runsOf(lines);
  const violations = [];
  const sums = { calls: told.length, begun: runs.size, answers: 0, late: 0, lost: 0 };
  const courses = new Map();
  const servers = deaths.filter((each) => each.proxy !== true);
  /** Tells whether the proxy of a connection was killed before then: what it had kept the next one of its name tells as lost. */
  const isOrphan = ({ connection }, at) =>
    deaths.some((each) => each.proxy && each.connection === connection && each.at < at);
  const given = new Map();
  /** Deaths that a loss was told for, by what was lost. */
  const counted = new Set();
  for (const { connection, question, askedAt, at, run, late, kept, gaveUp, outcome } of told) {
    const about = `${question} of ${connection}`;
    const course = courses.get(about) ?? { since: askedAt, question, connection };
    courses.set(about, course);
    const ofConnection = servers.filter((each) => each.connection === undefined || each.connection === connection);
    const own = [...runs.values()].filter(
      (one) => one.connection === connection && one.question === question && one.at >= course.since && one.at < at,
    );
    if (!course.isTold && own.length > 1) {
      course.isTold = true;
      violations.push(`${about} was made ${own.length} times before it had an end`);
    }
    if (kept || gaveUp) continue;
    courses.delete(about);
    if (run === undefined) {
      sums.lost++;
      const death = ofConnection.find(
        (each) => each.at > course.since - unnoticedMs && each.at < at && !counted.has(`${each.at} ${about}`),
      );
      counted.add(`${death?.at} ${about}`);
      const left = [...courses].find(([, each]) => each.question === question && isOrphan(each, at));
      if (death === undefined && left !== undefined) courses.delete(left[0]);
      if (outcome !== 'unknown') violations.push(`${about} ended as ${outcome}`);
      else if ((death ?? left) === undefined) violations.push(`${about} was told as lost, and no server had died`);
      const last = own.at(-1);
      if (death !== undefined && last?.endedAt < death.at - unnoticedMs)
        violations.push(`${about} was told as lost, and was answered by ${last.run}`);
      continue;
    }
    sums.answers++;
    if (late) sums.late++;
    const its = runs.get(run);
    if (its?.endedAt === undefined || its.question !== question)
      violations.push(`${about} was answered with ${run}, of ${its?.question}`);
    if (its?.connection !== connection) violations.push(`${about} was given the answer of ${its?.connection}`);
    else if (its.at < course.since) violations.push(`${about} was given an answer of before it was asked, ${run}`);
    if (given.has(run)) violations.push(`${run} was given to ${given.get(run)} and to ${about}`);
    given.set(run, about);
  }
  return { ...sums, violations };
}

function runsOf(lines) {
  const runs = new Map();
  for (const [what, run, question, ...rest] of lines.map((line) => line.split(' '))) {
    if (what === 'begun') runs.set(run, { run, question, connection: rest[0], at: Number(rest[1]) });
    if (what === 'ended') runs.get(run).endedAt = Number(rest[0]);
  }
  return runs;
}
