import { formatDuration } from '../text/duration.ts';
import type { FactOf } from '../facts/facts.ts';
import type { AlertOrigin, AlertCause, AlertEnd } from '../facts/alertFacts.ts';
import { nameOfScope } from '../text/budgetText.ts';
import { sanitize } from '../text/sanitize.ts';
import { commandAbout, optionWords, dbWords } from '../text/shownCommand.ts';

/** News that is told of alerts. */
export type AlertNews = FactOf<'alert.raised'> | FactOf<'alert.cleared'>;

/** Most characters of what others said: where it comes from, and what to do next, stand behind it. */
const mostOfMessage = 200;

/** An alert or an all-clear as one line for people: what, where it comes from, and the command to type next. */
export function alertText(news: AlertNews): string {
  return sanitize(news.type === 'alert.raised' ? raisedText(news) : clearedText(news));
}

const endTexts: Readonly<Record<AlertEnd, string>> = {
  quiet: 'it has been quiet',
  closed: 'its circuit closed',
  recovered: 'its success rate is high enough again',
};

/**
 * The command that says most of what an alert is about: the end of a server with what it wrote last, the rate, or the circuit and the last failure.
 * @param database - as `--db` takes it.
 */
export function nextOfAlert(integration: string, because: AlertCause, database: string | undefined): string {
  const option = optionWords('integration', integration);
  const db = dbWords(database);
  if (because === 'crashes') return `unwedge events${option} --failed${db}`;
  if (because === 'budget') return commandAbout('budget', nameOfScope(integration), db);
  if (because === 'tool') return commandAbout('accept', integration, db);
  return because === 'rate' ? `unwedge report${option}${db}` : commandAbout('why', integration, db);
}

function raisedText(news: FactOf<'alert.raised'>): string {
  const { integration, because, failures, crashes, windowMs, message, next } = news;
  const line = sanitize(message);
  const said = line.length > mostOfMessage ? `${line.slice(0, mostOfMessage)}…` : line;
  const what = because === 'crashes' ? `crashed ${times(crashes)}` : `failed ${times(failures)}`;
  const isSaid = because !== 'failures' && because !== 'crashes';
  const trouble = isSaid ? `: ${said}` : ` ${what} within ${formatDuration(windowMs)}; last: ${said}`;
  return `Alert: ${integration}${trouble} (${placeText(news)})${next === undefined ? '' : `; next: ${next}`}`;
}

function clearedText(news: FactOf<'alert.cleared'>): string {
  const { integration, afterMs, by, remains } = news;
  const but = remains === undefined ? '' : `, though ${remains}: no call has come since`;
  return `All clear: ${integration}, after ${formatDuration(afterMs)} (${endTexts[by]}${but}; ${placeText(news)})`;
}

function placeText({ gateway, pid, host }: AlertOrigin): string {
  return `${gateway}, pid ${pid} on ${host}`;
}

/** How often something happened. */
export const times = (count: number): string => (count === 1 ? '1 time' : `${count} times`);
