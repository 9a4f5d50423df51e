import { openToolsOf } from '../operator/integrationView.ts';
import { attentionText, mattersOf } from './attention.ts';
import type { Io } from './io.ts';
import { lookAround } from './lookAround.ts';
import { toJson } from './sanitize.ts';
import { createStyle } from './style.ts';
import { busyText } from './stuckSessions.ts';
import { wrapLines } from './wrap.ts';

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
