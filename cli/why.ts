import { readWhyAnswer } from '../src/control/face.ts';
import { formatDuration, nearest, nearestId } from '../src/policy/text/face.ts';
import { attentionText, type Matter, mattersOf, mattersOfLostLog } from './attention.ts';
import { defineCommand, flag, text } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError, UsageError } from './errors.ts';
import { type AskedRuntime, askRuntimes } from '../operator/askRuntimes.ts';
import { withLayers } from '../operator/layersBelow.ts';
import { runtimesOf } from '../operator/unlisted.ts';
import { KnownSecrets, createFactRedactor, createShownNames, nameAmong } from '../src/redaction/face.ts';
import { failedTurnsOf, failedTurnsText, type LastTurn, lastTurnOf, lastTurnText } from './lastTurnText.ts';
import { problemLines, runtimeText } from './liveRuntimes.ts';
import { giveAndSay, type OrderArgs, reasonOption } from './orders.ts';
import type { RuleWhy, SessionWhy } from '../src/sessions/face.ts';
import type { Io } from './io.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';
import { integrationOf, integrationWhy, liveMatters } from './whyIntegration.ts';
import { isNamed, ownerText, recordsText, ruleText, whyText } from './whyText.ts';
import { createStyle, wrapLines } from './text.ts';
import { openToolsOf } from '../operator/integrationView.ts';
import { lookAround } from './lookAround.ts';
import { busyText } from './stuckSessions.ts';

/** Time for which a loss is told, in ms. */
const dayMs = 24 * 60 * 60_000;

export const command = defineCommand({
  usage: 'why [SESSION] [--all] [--fire [--rule ID] [--reason TEXT]] [--json] [--db FILE]',
  details: [
    'Asks the running gateway that has the session: its turn, pending calls with their attempts, circuits and processes, questions to',
    'people, and which limit or wait ends next. Without one it shows what is on record: messages and calls that wait to be taken up.',
    'SESSION is an id as `unwedge status` shows it, or the name of a server behind a running proxy. Of another integration it says what is known.',
    'Without SESSION it lists the sessions that wait and the integrations whose circuit is not closed, with the command for each.',
    'With --fire the rule that comes next acts now, exactly as if its time had come; it is on record as operator/fired. Exits 1 where no rule waits.',
  ].join('\n'),
  options: {
    all: flag('without SESSION: list all of them, not the first 8'),
    fire: flag('have the rule that ends the wait next act now'),
    rule: text('ID', 'have this rule act: its name, or its id as --json tells it'),
    ...reasonOption,
  },
  operands: ['[SESSION]'],
  choices: 'sessions',
  async run(args, io) {
    const [given] = args.operands;
    if (!args.fire && (args.rule ?? args.reason) !== undefined)
      throw new UsageError(`${args.rule === undefined ? '--reason' : '--rule'} goes with --fire`);
    if (args.all && given !== undefined) throw new UsageError('--all goes without a SESSION');
    if (given === undefined) {
      if (args.fire) throw new UsageError('--fire needs a SESSION; `unwedge why` lists those that wait');
      return showAllWhy(args, io);
    }
    const secrets = new KnownSecrets(process.env);
    const redact = createFactRedactor(secrets, { objects: Number.POSITIVE_INFINITY });
    const shown = createShownNames(secrets);
    const session = shown(given);
    const { path, rows, ids, id, records, policies, last, failed, lostLog } = await readDatabase(
      args.db,
      io,
      async (reader) => {
        const ids = await reader.sessionIds();
        const id = nameAmong(ids, given, shown) ?? given;
        const [records, policies] = [await reader.session(id), await reader.policies()];
        const last = await lastTurnOf(reader, id, session);
        return {
          path: reader.path,
          rows: await runtimesOf(reader, io.now()),
          ...{ ids, id },
          lostLog: await reader.lostLog(io.now() - dayMs),
          records: records && redact(records),
          last: last && redact(last),
          failed: records === undefined ? redact(await failedTurnsOf(reader, session, io.now())) : [],
          policies: policies.map((each) => ({ ...each, name: shown(each.name) })),
        };
      },
    );
    const asked = redact(await askRuntimes(rows, io, 'why', readWhyAnswer, { session: id }));
    const found = asked.find(({ answer }) => answer !== undefined && !answer.heldElsewhere);
    // The call it waited for, or all of it, may have been in what is lost.
    const lost = mattersOfLostLog(lostLog, io.now());
    if (args.fire) return fire(found?.answer, session, args, io, problemLines(asked, io.now()));
    if (found?.answer !== undefined) {
      const { runtime } = found;
      const answer = redact(await withLayers(found.answer, rows, runtime.pid));
      const owner = records?.owner;
      const where = owner === undefined ? '' : ownerText(session, owner, io.columns);
      // A server behind a proxy has the name that the connection of its client has.
      const attention = [...(await liveMatters(session, runtime, args.db, io, shown)), ...lost];
      io.stdout.write(
        args.json
          ? toJson({
              live: true,
              runtime,
              ...answer,
              owner,
              ...lastData(answer.turn === undefined, last),
              ...(attention.length > 0 && { attention }),
            })
          : `${whyText(answer, io.columns, io.own)}${answer.turn === undefined ? lastText(last, io) : ''}${where}${mattersText(attention, io)}`,
      );
      return 0;
    }
    if (records === undefined) {
      const { found: integration, matters, names } = await integrationOf(session, args.db, rows, io, shown);
      const near = nearestId(given, ids) ?? nearest(session, names);
      const guess = near === undefined ? '' : ` Did you mean ${quoted(shown(near))}?`;
      if (integration !== undefined || matters.length > 0) {
        const known = integration === undefined ? '' : integrationWhy(integration, args.db, io);
        io.stdout.write(
          args.json
            ? toJson({ integration: session, ...integration, attention: matters })
            : `${mattersText(matters, io)}${known}`,
        );
        return 0;
      }
      if (failed.length > 0 && args.json) {
        const of = (wanted: string) =>
          failed.flatMap(({ at, type, metadata }) => (type === wanted ? [{ at, ...metadata }] : []));
        const told = { failedTurns: of('turn_failed'), spinning: of('spinning') };
        io.stdout.write(toJson({ live: false, ...told, ...(lost.length > 0 && { attention: lost }) }));
        return 0;
      }
      io.stderr.write(mattersText(lost, io));
      if (failed.length > 0) {
        io.stdout.write(failedTurnsText(session, failed, io.now(), io.columns));
        return 0;
      }
      throw new CommandError(
        `No session ${quoted(session)}, and no integration of that name, in ${sanitize(path)}.${guess}`,
      );
    }
    const frozen = asked.filter((each) => each.frozen !== undefined);
    if (args.json) {
      const attention = lost.length > 0 ? { attention: lost } : {};
      const data = { live: false, frozen: frozen.map(frozenData), ...records, ...lastData(true, last), ...attention };
      io.stdout.write(toJson(data));
    } else {
      const now = io.now();
      const silence = frozen.map(
        ({ runtime, problem }) => `pid ${runtime.pid} (${sanitize(runtime.name)}) does not answer: ${problem ?? ''}.`,
      );
      if (silence.length > 0)
        io.stdout.write(wrapLines([...silence, 'What follows is from the database.'], io.columns));
      const elsewhere = asked.some((each) => each.elsewhere !== undefined && each.runtime.liveness !== 'dead');
      const { owner } = records;
      const isGone = frozen.length === 0 && !elsewhere && owner === undefined;
      io.stdout.write(recordsText(records, { now, policies, isGone, width: io.columns }));
      io.stdout.write(`${lastText(last, io)}${mattersText(lost, io)}`);
      if (owner !== undefined) io.stdout.write(ownerText(session, owner, io.columns));
      const without = asked.filter(({ refused }) => refused === true);
      const others = asked.filter((each) => each.frozen === undefined && each.refused !== true);
      io.stderr.write(problemLines(others, now));
      io.stderr.write(
        without
          .map(({ runtime }) => `${runtimeText(runtime, now)} runs, and does not have it now: ${startText(session)}.\n`)
          .join(''),
      );
      const there = owner && `Ask on ${sanitize(owner.host)}`;
      const here = elsewhere ? 'No live gateway of this machine has it, ask on the others' : 'No live gateway has it';
      const who = frozen.length > 0 ? 'Its gateway may be one that does not answer' : (there ?? here);
      io.stderr.write(`unwedge: ${who}: attempts, processes and circuits cannot be shown.\n`);
    }
    return 0;
  },
});

/** An agent whose last call failed waits for nothing, and may have given up. */
function lastText(last: LastTurn | undefined, io: Io): string {
  return last === undefined ? '' : lastTurnText(last, io.now(), io.columns);
}

function lastData(isIdle: boolean, last: LastTurn | undefined): { readonly lastTurn?: LastTurn['turn'] } {
  return isIdle && last !== undefined ? { lastTurn: last.turn } : {};
}

function mattersText(matters: readonly Matter[], io: Io): string {
  return attentionText(matters, { width: io.columns, style: createStyle(io), most: matters.length });
}

/** Returns the command that makes a session on record one of a live gateway again. */
function startText(session: string): string {
  const [, id] = /^serve:(.+)$/s.exec(session) ?? [];
  return id === undefined
    ? 'its program has it again by `gateway.session()`, or with its next message where the program adopts sessions'
    : `its next message starts it there, such as \`POST /v1/sessions/${sanitize(id)}/messages\``;
}

function frozenData({ runtime, frozen, problem }: AskedRuntime<unknown>) {
  return { pid: runtime.pid, name: runtime.name, frozen, problem };
}

/** Has a rule act that was just looked at. @throws CommandError where there is none. */
function fire(
  answer: SessionWhy | undefined,
  name: string,
  { rule, reason, db, json }: OrderArgs & { readonly rule: string | undefined; readonly reason: string | undefined },
  io: Io,
  silence: string,
): Promise<number> {
  if (answer === undefined) {
    io.stderr.write(silence);
    throw new CommandError(`No live gateway that answers has the session ${quoted(name)}; nothing was done.`);
  }
  const { rules } = answer;
  const [next] = rules;
  if (next === undefined) throw new CommandError(`${quoted(name)} waits for no rule; nothing was done.`);
  // By its id, or by its name where only one rule has that.
  const named = rules.filter((each) => rule !== undefined && isNamed(each, rule));
  const target =
    rule === undefined ? next : (rules.find(({ id }) => id === rule) ?? (named.length === 1 ? named[0] : undefined));
  if (target === undefined) {
    const told = (each: RuleWhy): string =>
      `${each.id} (${ruleText(each)} in ${formatDuration(Math.max(0, each.inMs))})`;
    const why =
      named.length > 1
        ? `${named.length} rules of ${quoted(name)} have the name ${quoted(rule ?? '')}; nothing was done. Their ids: ${named.map(told).join(', ')}`
        : `There is no rule ${quoted(rule ?? '')} of ${quoted(name)}: it is over, or there never was one; nothing was done. Its rules: ${rules.map(told).join(', ')}`;
    throw new CommandError(sanitize(why));
  }
  return giveAndSay({ order: 'fire', name, target: target.id, reason }, { db, json }, io);
}

/** Every session that waits and every integration whose circuit is not closed, each with the command to go on with. @returns the exit code. */
export async function showAllWhy(
  { db, json, all }: { db: string | undefined; json: boolean; all: boolean },
  io: Io,
): Promise<number> {
  const { now, view, watched } = await lookAround(db, io, busyText);
  const integrations = view.integrations.filter((each) => each.circuit !== 'closed' || openToolsOf(each).length > 0);
  const nothing = { alerts: { open: [], unwatched: [] }, sessions: [], letters: [] };
  const matters = mattersOf({ ...watched, ...nothing, integrations }, now, db);
  if (json)
    io.stdout.write(toJson({ database: view.database, sessions: watched.stuck, integrations, attention: matters }));
  else if (matters.length === 0)
    io.stdout.write(wrapLines(['No session waits, and every circuit is closed.'], io.columns));
  else {
    const most = all ? matters.length : undefined;
    io.stdout.write(
      attentionText(matters, { width: io.columns, style: createStyle(io), most, rest: '--all shows them' }),
    );
  }
  return 0;
}
