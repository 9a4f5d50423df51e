import { readStatusAnswer } from '../src/control/face.ts';
import { parseDuration } from './parseDuration.ts';
import { nearest } from '../src/policy/text/face.ts';
import { type OrderResult, notDone, noteIn } from '../src/policy/face.ts';
import type { Order } from './order.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { createShownNames } from '../src/redaction/face.ts';
import type { AlertNoteFact } from '../reader/storeReader.ts';
import { askRuntimes } from './askRuntimes.ts';
import type { OrderedDatabase } from './giveOrder.ts';
import { judgedOutside } from './judgedOutside.ts';
import { knownNames } from '../src/runtime/face.ts';
import { runtimesOf } from './unlisted.ts';

/** Longest time that an alert may be put off, in ms. */
const mostSnoozeMs = 30 * 24 * 60 * 60_000;

/** Records that somebody looks after an alert, or puts it off for the time that `target` says. Needs no gateway. Never rejects. */
export async function putAway(
  { order, name, target = '', by, why }: Order,
  { clock, read }: OrderedDatabase,
): Promise<OrderResult> {
  try {
    const at = Math.round(clock.wallNow());
    const forMs = order === 'snooze' ? parseDuration('for', target) : 0;
    if (order === 'snooze' && !(forMs > 0 && forMs <= mostSnoozeMs))
      return notDone(`An alert is put off for more than 0 and at most 30d, not ${target}.`);
    return await read(async (reader) => {
      const { open, unwatched } = await reader.alerts(at);
      const rows = unwatched.length === 0 ? [] : await runtimesOf(reader, at);
      const asked = await askRuntimes(rows, { now: () => at }, 'status', readStatusAnswer);
      const { integrations } = unwatched.length === 0 ? { integrations: [] } : await reader.status(at);
      const shown = createShownNames();
      const known = [...open, ...judgedOutside(unwatched, integrations, asked, shown)];
      const label = shown(name);
      const found =
        known.find(({ integration }) => integration === name) ??
        known.find(({ integration }) => shown(integration) === name || integration === `hook:${name}`);
      if (found === undefined) {
        const names = known.map(({ integration }) => shown(integration));
        const near = nearest(name, names);
        const guess =
          names.length === 0
            ? 'none is open'
            : near === undefined
              ? `open: ${knownNames(names)}`
              : `did you mean ${near}?`;
        return notDone(`No alert of ${label} is open, and nothing was done; ${guess}${guess.endsWith('?') ? '' : '.'}`);
      }
      const about = {
        integration: found.integration,
        alert: open.find((each) => each === found)?.id,
        ...noteIn({ by, why }),
      };
      const fact: AlertNoteFact =
        order === 'snooze'
          ? { type: 'operator.snoozed', ...about, until: at + forMs }
          : { type: 'operator.acknowledged', ...about };
      const result = await reader.recordNote(fact, at);
      if (!result.ok) return result;
      const what = shown(found.integration);
      return {
        ok: true,
        text:
          order === 'snooze'
            ? `The alert of ${what} is put off for ${target}, or until it ends.`
            : `The alert of ${what} is acknowledged, until it ends.`,
      };
    });
  } catch (error) {
    return notDone(messageOf(error));
  }
}
